/* Reads the draws of some columns for figures, thinned evenly, with the figures of the summary beside them. */
#include "base/assert.h"
#include "base/mem.h"
#include "base/sort.h"
#include "plot/density.h"
#include "report/plots.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE = 1 << 20 }; /* numbers read at a time */

int gess__read_thinned(const gess__reader *r, size_t count, const size_t *columns, size_t step, double *const *values,
                       gess_error *err)
{
    size_t draws = ((size_t)r->draws + step - 1) / step, row = r->chains * r->columns, kept = 0;
    uint64_t at_once = PIECE / row > 0 ? PIECE / row : 1;
    double *piece = NULL;
    if (step > at_once) at_once = 1; /* the draws between are not read */
    GESS_ALLOC(&piece, (size_t)at_once * row, err);
    int status = GESS_OK;
    for (uint64_t first = 0; status == GESS_OK && first < r->draws;) {
        uint64_t n = r->draws - first < at_once ? r->draws - first : at_once;
        if ((status = gess__reader_rows(r, 0, r->chains, first, n, piece, err)) != GESS_OK) break;
        uint64_t i = 0;
        for (; i < n; i += step, kept++)
            for (size_t c = 0; c < r->chains; c++)
                for (size_t j = 0; j < count; j++)
                    values[j][c * draws + kept] = piece[(c * n + i) * r->columns + columns[j]];
        first += i;
    }
    free(piece);
    return status;
}

/* The mean of a periodic parameter on the branch on which its draws are shown. */
static double on_branch(const gess__circle *circle, double mean, double median)
{
    double period = circle->upper - circle->lower;
    while (mean < median - 0.5 * period) mean += period;
    while (mean > median + 0.5 * period) mean -= period;
    return mean;
}

static int describe(gess__plotted *p, const gess__summary *s, size_t row, double *x, double *sorted)
{
    gess__figures figures = gess__figures_shown(&s->figures[row]);
    size_t all = p->chains * p->draws, finite = 0;
    const gess__circle *circle = &s->circle[row];
    bool circular = gess__is_circle(circle) && isfinite(s->figures[row].circle_cut);
    if (circular) gess__circular_unwrap(circle, s->figures[row].circle_cut, all, x, x);
    for (size_t i = 0; i < all; i++)
        if (isfinite(x[i])) sorted[finite++] = x[i];
    gess__sort(finite, sorted);
    p->name = s->names[row];
    p->x = x;
    p->sd = figures.sd;
    p->q5 = figures.q5;
    p->q50 = figures.q50;
    p->q95 = figures.q95;
    p->q16 = finite == all && finite > 1 ? gess__sorted_quantile(sorted, finite, GESS__SIGMA_BELOW) : NAN;
    p->q84 = finite == all && finite > 1 ? gess__sorted_quantile(sorted, finite, GESS__SIGMA_ABOVE) : NAN;
    p->mean = circular && isfinite(figures.mean) ? on_branch(circle, figures.mean, figures.q50) : figures.mean;
    p->ess = figures.ess_bulk;
    p->r_hat = isfinite(figures.r_hat_nested) ? figures.r_hat_nested : figures.r_hat; /* the one that decides */
    p->doubtful = isfinite(figures.r_hat_nested) ? figures.r_hat_nested > 1.01 : figures.r_hat > 1.01;
    p->truth = NAN;
    return GESS_OK;
}

int gess__plot_data_read(gess__plot_data *d, const gess__reader *r, const gess__summary *s, size_t count,
                         const size_t *rows, size_t most, gess_error *err)
{
    GESS_ASSERT(count > 0 && r->draws > 0);
    size_t *columns = NULL, all;
    double *sorted = NULL;
    d->step = ((size_t)r->draws * r->chains + most - 1) / most;
    d->chains = r->chains;
    d->draws = ((size_t)r->draws + d->step - 1) / d->step;
    all = d->chains * d->draws;
    GESS_ALLOC(&d->parameter, count, err);
    GESS_ALLOC(&d->prior, count, err);
    GESS_ALLOC(&d->x, count, err);
    d->count = count;
    for (size_t i = 0; i < count; i++) GESS_ALLOC(&d->x[i], all, err);
    int status = gess__alloc_bytes(&columns, count, sizeof *columns, "columns", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&sorted, all + 1, sizeof *sorted, "sorted draws", err);
    if (status == GESS_OK) {
        for (size_t i = 0; i < count; i++) columns[i] = s->column[rows[i]];
        status = gess__read_thinned(r, count, columns, d->step, d->x, err);
    }
    for (size_t i = 0; status == GESS_OK && i < count; i++) {
        d->parameter[i] = (gess__plotted){.chains = d->chains, .draws = d->draws, .step = d->step};
        status = describe(&d->parameter[i], s, rows[i], d->x[i], sorted);
    }
    free(columns);
    free(sorted);
    return status;
}

void gess__plot_data_free(gess__plot_data *d)
{
    for (size_t i = 0; i < d->count; i++) {
        free(d->x[i]);
        free(d->prior[i]);
    }
    free(d->x);
    free(d->prior);
    free(d->parameter);
    *d = (gess__plot_data){0};
}
