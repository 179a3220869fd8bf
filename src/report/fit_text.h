/* The result of a fit to points, as text and as JSON; `gess fit` prints it. */
#ifndef GESS_REPORT_FIT_TEXT_H
#define GESS_REPORT_FIT_TEXT_H

#include "approx/approx.h"
#include "approx/fit.h"

#include <jansson.h>
#include <stdio.h>

/* Σ[i,k], from the Cholesky factor. */
double gess__approx_sigma(const gess__approx *approx, size_t i, size_t k);

/* For people. `points`: their number; `names`: dim names of coordinates, or NULL for x1, x2, … */
void gess__fit_print(const gess__approx *approx, const gess__fit_report *report, size_t points,
                     const char *const *names, FILE *out);

/* For programs, and for --approx: a new reference. */
json_t *gess__fit_json(const gess__approx *approx, const gess__fit_report *report);

#endif
