/* The end of a session: the last checkpoint, history.json, nans.csv and the last lines of log.txt. A session is one
 * call of gess_run_go(): the part of a run between its start, or a resume, and its end or a stop. */
#ifndef GESS_RUN_FINISH_H
#define GESS_RUN_FINISH_H

#include <gess/gess.h>

/* Ends a session that the loop left with `status`: GESS_OK (the run is finished), GESS_ERR_STOPPED or an error. Returns
 * `status`, or the error of a file that could not be written. */
int gess__run_finish(gess_run *run, int status, gess_error *err);

/* The status and the message of a run that did not wait for its density (run/isolation.h). */
int gess__run_set_stopped(gess_run *run, gess_error *err);

/* Writes history.json; does nothing for a run without files. */
int gess__run_write_history(gess_run *run, gess_error *err);

#endif
