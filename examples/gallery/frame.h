/* What the models of the gallery have in common: a table of numbers from a CSV file, and the three symbols of a plug-in.
 * A model defines MODEL (its name), COLUMNS (of its data), DIM, names, lower, upper and log_posterior(), and includes this
 * file last. With DERIVED, derived_names and derive() it has derived quantities; PERIODIC is a list of flags. */
#include <gess/gess.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GALLERY_TABLE
#define GALLERY_TABLE
struct table {
    size_t rows;
    double *values; /* rows × COLUMNS */
};
#endif

#ifdef MODEL

static struct table *read_table(const char *path, char *message, size_t size)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(message, size, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    struct table *table = calloc(1, sizeof *table);
    char line[512];
    size_t number = 0, used = 0;
    int good = table != NULL;
    while (good && fgets(line, sizeof line, file) != NULL) {
        char *at = line, *end;
        if (number++ == 0 || line[0] == '\n') continue; /* the header */
        double *more = realloc(table->values, (used + COLUMNS) * sizeof *more);
        good = more != NULL;
        if (!good) break;
        table->values = more;
        for (size_t i = 0; good && i < COLUMNS; i++, at = end + (*end == ',')) {
            table->values[used++] = strtod(at, &end);
            good = end != at;
        }
        if (!good) snprintf(message, size, "%s, line %zu: %d numbers are needed", path, number, (int)COLUMNS);
    }
    fclose(file);
    if (good) {
        table->rows = used / COLUMNS;
        return table;
    }
    if (table != NULL) free(table->values);
    free(table);
    return NULL;
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = log_posterior(user, x + i * dim);
    return 0;
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size)
{
    if (path == NULL) {
        snprintf(message, size, "it needs its data; give them with --data FILE");
        return 1;
    }
    struct table *table = read_table(path, message, size);
    if (table == NULL) return 1;
    density->name = MODEL;
    density->dim = DIM;
    density->names = names;
    density->lower = lower;
    density->upper = upper;
#ifdef PERIODIC
    static const unsigned char periodic[DIM] = PERIODIC;
    density->periodic = periodic;
#endif
#ifdef DERIVED
    density->derived = DERIVED;
    density->derived_names = derived_names;
    density->derive = derive;
#endif
    density->logp = logp;
    density->user = table;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    struct table *table = density->user;
    free(table->values);
    free(table);
}

#endif
