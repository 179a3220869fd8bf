/* The interface of what runs stretches in the processor's place (lane/device.c), so that execution knows nothing of
 * devices. */
#ifndef GESS_EXECUTE_ACCELERATOR_H
#define GESS_EXECUTE_ACCELERATOR_H

#include "execute/stretch.h"

struct gess__ensemble;
typedef struct gess__accelerator gess__accelerator;

struct gess__accelerator {
    const char *name; /* "cuda:0 (NVIDIA H200)" */
    /* Whether it can run the stretch. */
    bool (*takes)(const gess__accelerator *a, const struct gess__ensemble *e, const gess__stretch *stretch);
    /* As gess__ensemble_run(). */
    int (*run)(gess__accelerator *a, struct gess__ensemble *e, gess__stretch *stretch, const gess__record *record,
               gess_error *err);
    /* Log densities of n points by the model's function for devices, computed `repeats` times, which takes *seconds
     * without copies (NULL: not wanted). Several threads may call it at once. */
    int (*evaluate)(gess__accelerator *a, const gess_model *model, size_t n, const double *x, double *logp,
                    size_t repeats, double *seconds, gess_error *err);
    void (*free)(gess__accelerator *a);
};

#endif
