#include "draws/tables.h"

#include "base/csv.h"
#include "base/mem.h"

#include <string.h>

/* The first file says what the columns are. */
static int take_shape(gess__draws *d, const gess__table *t, const char *path, size_t files, gess_error *err)
{
    if (t->names == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "%s has no header; its first line must name the columns", path);
    d->chains = files;
    d->draws = t->rows;
    d->thin = 1;
    GESS_ALLOC(&d->names, t->columns, err);
    d->columns = t->columns;
    for (size_t i = 0; i < t->columns; i++) GESS_TRY(gess__copy_text(&d->names[i], t->names[i], err));
    GESS_ALLOC(&d->values, d->columns * d->chains * t->rows, err);
    return GESS_OK;
}

static int take_chain(gess__draws *d, const gess__table *t, size_t chain, const char *path, gess_error *err)
{
    bool same = t->names != NULL && t->columns == d->columns && t->rows == d->draws;
    for (size_t i = 0; same && i < d->columns; i++) same = strcmp(t->names[i], d->names[i]) == 0;
    if (!same)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%s: %zu rows of %zu columns, or other names than the first file's (%llu rows of %zu "
                          "columns); all "
                          "chains must have the same",
                          path, t->rows, t->columns, (unsigned long long)d->draws, d->columns);
    for (size_t row = 0; row < t->rows; row++)
        for (size_t j = 0; j < d->columns; j++)
            d->values[(j * d->chains + chain) * t->rows + row] = t->values[row * t->columns + j];
    return GESS_OK;
}

int gess__draws_from_tables(gess__draws *draws, size_t files, char *const *paths, gess_error *err)
{
    *draws = (gess__draws){0};
    for (size_t chain = 0; chain < files; chain++) {
        gess__table table = {0};
        int status = gess__table_read(&table, paths[chain], err);
        if (status == GESS_OK && chain == 0) status = take_shape(draws, &table, paths[chain], files, err);
        if (status == GESS_OK) status = take_chain(draws, &table, chain, paths[chain], err);
        gess__table_free(&table);
        GESS_TRY(status);
    }
    return GESS_OK;
}
