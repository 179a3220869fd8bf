/* Writes a draws.gess that a run would hardly give, for the tests of the report.
 *   make_runs KIND FILE
 * Columns are autoregressive series of strength 1/2 unless the kind says otherwise:
 *   one     one chain
 *   four    four chains, one of them shifted
 *   short   three draws
 *   odd     hostile names; columns that are constant, NaN, infinite, huge, far from 0, or in two modes
 *   wide    200 parameters
 *   most    more columns than are plotted, with the longest names
 *   circle  x1 is an angle of 0.105 and a spread of 0.094, on [0, 2π): some draws are beyond the seam
 *   large   100 chains of 20,000 draws of 50 parameters: 816 MB */
#include "base/folder.h"
#include "base/mem.h"
#include "draws/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ULL;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(1.0 - uniform())) * cos(6.283185307179586 * uniform());
}

static const char *const hostile[] = {"lp__",
                                      "</script><img src=x onerror=alert(1)>",
                                      "</script x <!--<script ",
                                      "a&amp;b \"quoted\" 'single' \\back",
                                      "line\nbreak\ttab",
                                      "separator\xe2\x80\xa8paragraph\xe2\x80\xa9",
                                      "{{data}}",
                                      "__proto__",
                                      "\xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x99\x82 \xce\xb8\xe2\x82\x81",
                                      "constant",
                                      "all NaN",
                                      "some NaN",
                                      "some infinite",
                                      "huge",
                                      "far from 0",
                                      "two values",
                                      "two modes"};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* Changes a plain value into that of an odd column. */
static double odd_value(size_t column, double x, uint64_t draw)
{
    switch (column) {
    case 9: return 3.25;
    case 10: return NAN;
    case 11: return draw % 7 == 0 ? NAN : x;
    case 12: return draw % 11 == 0 ? INFINITY : x;
    case 13: return x * 1e300;
    case 14: return 1e9 + 1e-3 * x;
    case 15: return x > 0.0 ? 1.0 : 0.0;
    case 16: return x > 0.0 ? x + 20.0 : x - 20.0;
    default: return x;
    }
}

typedef struct kind {
    const char *name;
    size_t chains, columns;
    uint64_t draws;
} kind;

static const kind kinds[] = {{"one", 1, 4, 600},       {"four", 4, 6, 400},      {"short", 5, 3, 3},
                             {"odd", 8, HOSTILE, 300}, {"wide", 20, 201, 250},   {"most", 100, 300, 520},
                             {"circle", 8, 4, 300},    {"large", 100, 51, 20000}};

static char *name_of(const kind *k, size_t column)
{
    static char name[400];
    snprintf(name, sizeof name, "x%zu", column);
    if (strcmp(k->name, "most") == 0) {
        memset(name, '<', 300);
        snprintf(name + 300, sizeof name - 300, "%zu", column);
    }
    if (column == 0) snprintf(name, sizeof name, "lp__");
    return strdup(strcmp(k->name, "odd") == 0 ? hostile[column] : name);
}

static void fill(const kind *k, double *now, uint64_t first, uint64_t draws, double *rows)
{
    int circle = strcmp(k->name, "circle") == 0;
    int odd = strcmp(k->name, "odd") == 0, shifted = strcmp(k->name, "four") == 0;
    for (size_t c = 0; c < k->chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t j = 0; j < k->columns; j++) {
                double *x = &now[c * k->columns + j], shift = shifted && c == 2 && j == 1 ? 3.0 : 0.0;
                *x = 0.5 * *x + normal();
                double value = odd ? odd_value(j, *x, first + i) : *x + shift, angle = 0.105 + 0.081 * *x;
                if (circle && j == 1) value = angle < 0.0 ? angle + 6.283185307179586 : angle;
                rows[(c * draws + i) * k->columns + j] = value;
            }
}

static int write_run(const kind *k, const char *path, gess_error *err)
{
    const char **names = NULL;
    double *now = NULL, *rows = NULL;
    gess__writer *writer = NULL;
    const size_t start = 0;
    GESS_ALLOC(&names, k->columns, err);
    GESS_ALLOC(&now, k->chains * k->columns, err);
    GESS_ALLOC(&rows, k->chains * k->columns * 50, err);
    for (size_t j = 0; j < k->columns; j++) names[j] = name_of(k, j);
    GESS_TRY(gess__writer_new(&writer, GESS__NO_FOLDER, path, k->chains, 1, &start, k->columns, names, 1, err));
    for (uint64_t first = 0; first < k->draws; first += 50) {
        uint64_t draws = k->draws - first < 50 ? k->draws - first : 50;
        fill(k, now, first, draws, rows);
        GESS_TRY(gess__writer_append(writer, 0, k->chains, first, draws, rows, err));
    }
    GESS_TRY(gess__writer_sync(writer, err));
    gess__writer_free(writer);
    for (size_t j = 0; j < k->columns; j++) free((char *)(uintptr_t)names[j]);
    free(names);
    free(now);
    free(rows);
    return GESS_OK;
}

int main(int argc, char **argv)
{
    gess_error err;
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0) continue;
        int status = write_run(&kinds[i], argv[2], &err);
        if (status != GESS_OK) fprintf(stderr, "%s\n", err.text);
        return status;
    }
    fprintf(stderr, "make_runs: KIND FILE, with a kind of make_runs.c\n");
    return 1;
}
