/* Opens and closes the device of a run. */
#include "run/device.h"

#include "lane/open.h"
#include "run/log.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

int gess__run_open_device(gess_run *run, gess_error *err)
{
    gess_options *o = &run->options;
    bool automatic = strcmp(o->device, "auto") == 0;
    gess_error reason = {0};
    if (o->accelerator != NULL || strcmp(o->device, "cpu") == 0) return GESS_OK;
    if (o->comm != NULL && o->comm->size > 1) {
        if (automatic) return GESS_OK;
        return gess__fail(err, GESS_ERR_USAGE, "--device %s works in one process only, not under a launcher",
                          o->device);
    }
    int status = gess__device_check(run->model, o, automatic ? &reason : err);
    if (status == GESS_OK)
        status = gess__device_open(&run->device, o->device, run->no_device, sizeof run->no_device, err);
    else if (automatic)
        snprintf(run->no_device, sizeof run->no_device, "%s", reason.text);
    o->accelerator = run->device;
    return automatic ? GESS_OK : status;
}

void gess__run_close_device(gess_run *run)
{
    if (run->device != NULL) run->device->free(run->device);
    run->device = NULL;
}

void gess__run_log_device(const gess_run *run)
{
    if (run->device != NULL)
        gess__run_log(run, "device: %s", run->device->name);
    else if (run->no_device[0] != '\0')
        gess__run_log(run, "device: the processor (%s)", run->no_device);
}
