#include "run/nans.h"

#include "base/csv.h"
#include "base/mem.h"
#include "model/model.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gess__nans_write(const gess_run *run, gess_error *err)
{
    char path[4096], buffer[32];
    gess__nans all = {0};
    const gess__target *target = &run->ensemble[0]->target;
    GESS_ALLOC(&all.points, GESS__NANS_KEPT * target->dim, err);
    for (size_t m = 0; m < run->ensembles; m++) {
        const gess__nans *n = &run->ensemble[m]->nans;
        for (size_t i = 0; i < n->count; i++)
            gess__nans_note(&all, target->dim, n->keys[i].iteration, n->keys[i].chain, n->keys[i].angle,
                            n->points + i * target->dim);
    }
    int status = GESS_OK;
    if (all.count > 0) status = gess__directory_path(run->directory, "nans.csv", path, sizeof path, err);
    FILE *file = all.count > 0 && status == GESS_OK ? fopen(path, "w") : NULL;
    if (all.count > 0 && status == GESS_OK && file == NULL)
        status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    if (file != NULL) {
        fprintf(file, "iteration,chain");
        for (size_t i = 0; i < run->model->dim; i++) {
            fputc(',', file);
            gess__csv_put_name(file, gess__parameter_name(run->model, i, buffer));
        }
        fputc('\n', file);
        for (size_t k = 0; k < all.count; k++) {
            fprintf(file, "%llu,%llu", (unsigned long long)all.keys[k].iteration + 1,
                    (unsigned long long)all.keys[k].chain + 1);
            for (size_t i = 0; i < run->model->dim; i++)
                fprintf(file, ",%.17g", gess__bounds_one(&target->bounds, i, all.points + k * target->dim));
            fputc('\n', file);
        }
        int bad = ferror(file);
        if (fclose(file) != 0 || bad)
            status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    }
    free(all.points);
    return status;
}
