/* The scaling table's cells, which table_scaling.c and scaling_budgets.c share. */
#ifndef GESS_REPRODUCE_SCALING_H
#define GESS_REPRODUCE_SCALING_H

#include "bench/measure.h"
#include "reproduce/reproduce.h"

enum { GESS__SCALING_EVALS_PER_CORE = 200000 }; /* the protocol's budget */

/* A cell of the table, by places in the grid: D = 50 (d + 1), C = 20 (c + 1), K = C (k + 1). */
typedef struct gess__scaling_place {
    size_t method, d, c, k;
    uint64_t evals_per_core;
} gess__scaling_place;

/* Adds the cell with a seed. `group` stands in its name, after the method. */
int gess__scaling_add(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells,
                      const gess__scaling_place *place, uint64_t seed, const char *group, gess_error *err);

/* Seconds that a cell takes, roughly. `method` as in gess__scaling_place. */
double gess__scaling_cost(size_t method, size_t dim, double evals);

/* Mean and standard error over the trials of a cell. Returns the number of trials; mean NaN if there are none. */
size_t gess__scaling_gather(size_t count, const gess__cell *cells, const gess__scaling_place *place, double *mean,
                            double *error);

/* ---- scaling_budgets.c: how the pattern of cells moves with the budget ---- */

/* Adds 45 cells of the table, with r->budget times the protocol's evaluations, schedule `two-group`, one trial. */
int gess__budgets_plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err);

/* A table of the cells below 1 by budget, and which budget has most cells on the paper's side of 1. */
void gess__budgets_show(json_t *page, const gess__reproduction *r, const gess__scaling_table *paper, size_t count,
                        const gess__cell *cells);

/* ---- scaling_open.c: what the paper leaves open ---- */

/* Adds 26 cells per number of r->iterations, schedule `two-group`, one trial. */
int gess__open_plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err);

/* Their table and verdicts; and one verdict on the paper's own numbers, which needs no cells. */
int gess__open_show(json_t *page, const gess__reproduction *r, const gess__scaling_table *paper, size_t count,
                    const gess__cell *cells, gess_error *err);

/* scaling_matrices.c: a table of how much matrices of the same dimension differ. */
int gess__matrices_show(json_t *page, gess_error *err);

#endif
