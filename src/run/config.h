/* config.json of the run directory: the model, the options and the build of a run, with a checksum. A resumed run
 * compares that build with its own. */
#ifndef GESS_RUN_CONFIG_H
#define GESS_RUN_CONFIG_H

#include <gess/gess.h>
#include <jansson.h>

int gess__config_write(const gess_run *run, gess_error *err);

/* Reads the options and the model of a config.json. Their texts belong to *keep: call json_decref() on it when they are
 * no longer used, also after an error. */
int gess__config_read(const char *path, gess_options *options, const char **model, json_t **keep, gess_error *err);

/* Refuses a config.json whose checksum is wrong: it was edited or damaged. */
int gess__config_verify(const char *path, json_t *config, gess_error *err);

/* Writes the number of draws of a resumed run to its config.json if it has changed, so that a run that is extended and
 * stopped again knows how far to go. The rest stays as it is. */
int gess__config_store_draws(const gess_run *run, gess_error *err);

/* A hash of the files that the density is made of now: plug-in or program, and data. */
uint64_t gess__config_sources(const gess_run *run);

/* Notes in config.json that from here on the run is no longer the same bit for bit, because its density gives other
 * bits (run/verify.h): how far the run was, the relative difference, and the hashes of plug-in and data now. */
int gess__config_store_change(const gess_run *run, double difference, gess_error *err);

/* Whether this version, build or machine is not the one that the run began with, so that further draws may differ in
 * their last bits. text[size] says what differs. */
int gess__config_differs(json_t *config, char *text, size_t size);

/* The version of gess that wrote directory/config.json, in version[size]; "?" if the file does not say. */
void gess__config_version(const char *directory, char *version, size_t size);

#endif
