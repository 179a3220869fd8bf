/* Opens the device that --device names. */
#ifndef GESS_LANE_OPEN_H
#define GESS_LANE_OPEN_H

#include "execute/accelerator.h"

/* "cpu", "cuda", "cuda:N" or "auto". *device is NULL for the processor; its owner calls its `free`. `auto` is the
 * processor where no GPU can be used; `why` says why then, and is empty otherwise. */
int gess__device_open(gess__accelerator **device, const char *name, char *why, size_t size, gess_error *err);

/* Fails if the model, with these options, cannot run on a device at all. */
int gess__device_check(const gess_model *model, const gess_options *options, gess_error *err);

#endif
