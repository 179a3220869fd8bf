/* Which parameters a figure shows: those that match patterns, those with the largest R-hat, or, in a corner plot, the
 * most correlated and the slowest. */
#include "base/mem.h"
#include "report/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 100, SAMPLE = 2000 };
#define CORRELATED 0.3

/* A pattern of the list that no shown row matches, into word[size]; false if there is none. */
static bool unmatched(const gess__summary *s, const char *patterns, char *word, size_t size)
{
    for (const char *from = patterns; *from != '\0';) {
        size_t length = 0, depth = 0;
        for (; from[length] != '\0' && (depth > 0 || from[length] != ','); length++) {
            depth += from[length] == '[' || from[length] == '(';
            depth -= depth > 0 && (from[length] == ']' || from[length] == ')');
        }
        snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), from);
        bool found = length == 0;
        for (size_t i = s->hidden; i < s->count && !found; i++) found = gess__name_matches(word, s->names[i]);
        if (!found) return true;
        from += length + (from[length] == ',');
    }
    return false;
}

int gess__plot_choose_named(const gess__summary *s, const char *patterns, size_t max, size_t *rows, size_t *count,
                            gess_error *err)
{
    char word[200];
    *count = 0;
    if (unmatched(s, patterns, word, sizeof word))
        return gess__fail(err, GESS_ERR_USAGE, "no parameter of the run matches `%s`; `gess summary` lists them", word);
    for (size_t i = s->hidden; i < s->count; i++)
        if (gess__name_matches(patterns, s->names[i])) rows[(*count)++] = i;
    if (*count == 0) return gess__fail(err, GESS_ERR_USAGE, "no parameters are chosen; `gess summary` lists them");
    if (*count <= max) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "%zu parameters match `%.100s`; this plot shows at most %zu", *count,
                      patterns, max);
}

/* ---- orders ---- */

/* R-hat descending; rows without one last. */
static int by_rhat(const void *a, const void *b, void *user)
{
    const gess__figures *f = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = isnan(f[i].r_hat) ? 0.0 : f[i].r_hat, y = isnan(f[j].r_hat) ? 0.0 : f[j].r_hat;
    if (x != y) return x > y ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* ESS ascending; rows without one last. */
static int by_ess(const void *a, const void *b, void *user)
{
    const gess__figures *f = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = isnan(f[i].ess_bulk) ? INFINITY : f[i].ess_bulk, y = isnan(f[j].ess_bulk) ? INFINITY : f[j].ess_bulk;
    if (x != y) return x < y ? -1 : 1;
    return i < j ? -1 : i > j;
}

static int by_row(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    return i < j ? -1 : i > j;
}

/* The rows that are shown: parameters and derived quantities, no blobs unless nothing else is there. */
static size_t shown(const gess__summary *s, bool with_lp, size_t *rows)
{
    size_t count = 0;
    for (size_t i = s->hidden; i < s->count; i++)
        if (with_lp || s->column[i] != 0 || s->count - s->hidden == 1) rows[count++] = i;
    return count;
}

size_t gess__plot_choose_worst(const gess__summary *s, size_t max, bool with_lp, size_t *rows)
{
    size_t count = shown(s, with_lp, rows);
    if (count <= max) return count;
    qsort_r(rows, count, sizeof *rows, by_rhat, s->figures);
    qsort(rows, max, sizeof *rows, by_row);
    return max;
}

/* ---- the corner ---- */

static double correlation(const double *a, const double *b, size_t count)
{
    double n = 0.0, ma = 0.0, mb = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) continue;
        double u = a[i] - ma, v = b[i] - mb;
        n += 1.0;
        ma += u / n;
        mb += v / n;
        aa += u * (a[i] - ma);
        bb += v * (b[i] - mb);
        ab += u * (b[i] - mb);
    }
    return aa > 0.0 && bb > 0.0 && isfinite(aa) && isfinite(bb) ? ab / sqrt(aa) / sqrt(bb) : 0.0;
}

/* Marks parameters of the largest correlations, pair by pair, until `max` are marked. */
static size_t mark_correlated(double *r, size_t n, size_t max, unsigned char *marked)
{
    size_t count = 0;
    while (count < max) {
        size_t best = n * n;
        double most = CORRELATED;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                size_t added = (size_t)!marked[i] + !marked[j];
                if (added == 0 || count + added > max || !(fabs(r[i * n + j]) > most)) continue;
                most = fabs(r[i * n + j]);
                best = i * n + j;
            }
        if (best == n * n) break;
        count += (size_t)!marked[best / n] + !marked[best % n];
        marked[best / n] = marked[best % n] = 1;
    }
    return count;
}

static int choose_from(const gess__reader *draws, const gess__summary *s, size_t *rows, size_t n, size_t max,
                       size_t *count, gess_error *err)
{
    gess__plot_data data = {0};
    double *r = NULL;
    unsigned char *marked = NULL;
    int status = gess__plot_data_read(&data, draws, s, n, rows, SAMPLE, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&r, n * n, sizeof *r, "correlations", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&marked, n, 1, "marks", err);
    if (status == GESS_OK) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) r[i * n + j] = correlation(data.x[i], data.x[j], data.chains * data.draws);
        size_t taken = mark_correlated(r, n, max, marked);
        for (size_t i = 0; i < n && taken < max; i++) { /* rows are in the order of their ESS */
            taken += !marked[i];
            marked[i] = 1;
        }
        *count = 0;
        for (size_t i = 0; i < n; i++)
            if (marked[i]) rows[(*count)++] = rows[i];
        qsort(rows, *count, sizeof *rows, by_row);
    }
    free(marked);
    free(r);
    gess__plot_data_free(&data);
    return status;
}

int gess__plot_choose_corner(const gess__reader *draws, const gess__summary *s, size_t max, size_t *rows, size_t *count,
                             gess_error *err)
{
    size_t n = shown(s, false, rows), varied = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(s->figures[rows[i]].ess_bulk)) rows[varied++] = rows[i];
    *count = varied > 0 ? varied : n > 0 ? 1 : 0;
    if (*count <= max) return GESS_OK;
    qsort_r(rows, varied, sizeof *rows, by_ess, s->figures);
    return choose_from(draws, s, rows, varied < CANDIDATES ? varied : CANDIDATES, max, count, err);
}
