/* Whether the code of a plug-in that a file names may be run. */
#ifndef GESS_CLI_TRUST_H
#define GESS_CLI_TRUST_H

#include <gess/gess.h>

/* A model that `file` (a config.json) names and the command line does not. If it is a plug-in, shows its path unless
 * `quiet`, and refuses it unless it lies in the folder of that file, or below, or `trusted`. */
int check_trust(const char *model, const char *file, int trusted, int quiet, gess_error *err);

/* The same for the run in a directory: it is refused only if neither the user nor root owns its config.json. */
int check_trust_of_run(const char *model, const char *directory, int trusted, int quiet, gess_error *err);

/* The same for whatever model the config.json of a run names. */
int check_trust_of_directory(const char *directory, int trusted, gess_error *err);

#endif
