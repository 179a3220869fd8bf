/* The run directory: its files, its lock. */
#ifndef GESS_RUN_DIRECTORY_H
#define GESS_RUN_DIRECTORY_H

#include <gess/gess.h>
#include <jansson.h>

/* Makes the run directory, or refuses one that exists. */
int gess__directory_make(gess_run *run, int overwrite, gess_error *err);

/* Takes the lock of the run's directory; refused while another process has it. */
int gess__directory_lock(gess_run *run, gess_error *err);
void gess__directory_unlock(gess_run *run);

/* A folder and those above it, as far as they are not there. */
int gess__make_folders(const char *directory, gess_error *err);

int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err);
int gess__directory_json(const char *directory, const char *file, json_t *root, gess_error *err); /* takes root */

#endif
