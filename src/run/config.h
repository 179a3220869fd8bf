/* config.json of the run directory: the model, the options and the build of a run. */
#ifndef GESS_RUN_CONFIG_H
#define GESS_RUN_CONFIG_H

#include <gess/gess.h>
#include <jansson.h>

int gess__config_write(const gess_run *run, gess_error *err);

/* Options and model of a config.json. What they point to lives in *keep, until json_decref(). */
int gess__config_read(const char *path, gess_options *options, const char **model, json_t **keep, gess_error *err);

/* Refuses a config.json that is not as a run wrote it. */
int gess__config_verify(const char *path, json_t *config, gess_error *err);

/* Whether the build or the machine is another than the one the run began with: draws from here on may differ
 * in their last bits. What is another is in the text. */
int gess__config_elsewhere(json_t *config, char *text, size_t size);

#endif
