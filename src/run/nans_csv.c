/* Merges the NaN records of all ensembles and writes them in the user's parameters. */
#include "run/nans_csv.h"

#include "base/assert.h"
#include "base/csv.h"
#include "base/folder.h"
#include "base/mem.h"
#include "model/model.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The earliest points over all ensembles. */
static void merge_ensembles(const gess_run *run, gess__nans *all)
{
    size_t dim = run->ensemble[0]->target.dim;
    for (size_t m = 0; m < run->ensembles; m++) {
        const gess__nans *n = &run->ensemble[m]->nans;
        for (size_t i = 0; i < n->count; i++)
            gess__nans_note(all, dim, n->keys[i].iteration, n->keys[i].chain, n->keys[i].angle, n->points + i * dim);
    }
}

static void put_points(const gess_run *run, const gess__nans *all, FILE *file)
{
    char buffer[32];
    const gess__target *target = &run->ensemble[0]->target;
    fprintf(file, "iteration,chain");
    for (size_t i = 0; i < run->model->dim; i++) {
        fputc(',', file);
        gess__csv_put_name(file, gess__parameter_name(run->model, i, buffer));
    }
    fputc('\n', file);
    for (size_t k = 0; k < all->count; k++) {
        fprintf(file, "%llu,%llu", (unsigned long long)all->keys[k].iteration + 1,
                (unsigned long long)all->keys[k].chain + 1);
        for (size_t i = 0; i < run->model->dim; i++) {
            char number[GESS__REAL_SIZE];
            gess__show_real(number, sizeof number, gess__bounds_one(&target->bounds, i, all->points + k * target->dim));
            fprintf(file, ",%s", number);
        }
        fputc('\n', file);
    }
}

static int write_points(const gess_run *run, const gess__nans *all, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(run->directory, "nans.csv", path, sizeof path, err));
    FILE *file = gess__folder_stream(run->folder, path, "w");
    if (file == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    put_points(run, all, file);
    int bad = ferror(file);
    if (fclose(file) != 0 || bad) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    return GESS_OK;
}

int gess__nans_write(const gess_run *run, gess_error *err)
{
    gess__nans all = {0};
    GESS_ASSERT(run->directory != NULL && run->ensembles > 0);
    GESS_ALLOC(&all.points, GESS__NANS_KEPT * run->ensemble[0]->target.dim, err);
    merge_ensembles(run, &all);
    int status = all.count > 0 ? write_points(run, &all, err) : GESS_OK;
    free(all.points);
    return status;
}
