/* --device in a run: the GPU whose memory its chains are in. */
#ifndef GESS_RUN_DEVICE_H
#define GESS_RUN_DEVICE_H

#include <gess/gess.h>

/* Opens the device that the options name; with `auto` none if there is none that can run the model. */
int gess__run_open_device(gess_run *run, gess_error *err);

/* Gives it back, when no ensemble is left. */
void gess__run_close_device(gess_run *run);

/* Says in log.txt which device a session uses, if the options name one. */
void gess__run_log_device(const gess_run *run);

#endif
