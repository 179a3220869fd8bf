/* Opens and closes the device of a run. */
#include "run/device.h"

#include "lane/open.h"
#include "model/model.h"
#include "run/log.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

static int evaluate(void *data, size_t n, const double *x, double *logp)
{
    gess_run *run = data;
    gess_error err = {0};
    int status = run->options.accelerator->evaluate(run->options.accelerator, run->model, n, x, logp, 1, NULL, &err);
    if (status != GESS_OK) gess__run_log(run, "%s", err.text);
    return status;
}

/* The run's device evaluates a model whose density is on devices only for warm-up, too. */
static int place_model(gess_run *run, gess_error *err)
{
    if (gess__model_on_processor(run->model, NULL) != GESS_OK && run->options.accelerator != NULL) {
        run->placed = *run->model;
        run->placed.elsewhere = evaluate;
        run->placed.elsewhere_data = run;
        run->model = &run->placed;
    }
    return gess__model_on_processor(run->model, err);
}

static int open_device(gess_run *run, gess_error *err)
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

int gess__run_open_device(gess_run *run, gess_error *err)
{
    GESS_TRY(open_device(run, err));
    return place_model(run, err);
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
