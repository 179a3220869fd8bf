#include "report/summary.h"

#include "base/mem.h"
#include "diagnose/coda.h"
#include "diagnose/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

/* Geweke's z of the mean over chains at each draw: the chains of an ensemble drift together. */
static double geweke_of_means(size_t chains, size_t n, const double *x, double *series, double *scratch)
{
    for (size_t i = 0; i < n; i++) {
        series[i] = 0.0;
        for (size_t c = 0; c < chains; c++) series[i] += x[c * n + i] / (double)chains;
    }
    return gess__coda_geweke(n, series, scratch);
}

static void summarise_column(gess__figures *f, gess__posterior_workspace *work, size_t chains, size_t n,
                             const double *x, double *scratch)
{
    gess__posterior_figures p;
    gess__posterior_all(work, x, &p);
    *f = (gess__figures){
        .mean = p.mean,
        .sd = p.sd,
        .mcse_mean = p.mcse_mean,
        .q5 = p.q5,
        .q50 = p.median,
        .q95 = p.q95,
        .ess_bulk = p.ess_bulk,
        .ess_tail = p.ess_tail,
        .ess_coda = gess__coda_effective_size(chains, n, x, scratch),
        .r_hat = p.rhat,
        .geweke = geweke_of_means(chains, n, x, scratch, scratch + n),
    };
}

int gess__summarise(gess__summary *s, const gess__draws *d, gess_error *err)
{
    *s = (gess__summary){.chains = d->chains, .draws = d->draws};
    if (d->draws == 0) return gess__fail(err, GESS_ERR_USAGE, "there are no draws yet");
    GESS_ALLOC(&s->names, d->columns, err);
    GESS_ALLOC(&s->figures, d->columns, err);
    size_t n = (size_t)d->draws;
    gess__posterior_workspace *work = NULL;
    double *scratch = NULL;
    int status = gess__posterior_workspace_new(&work, d->chains, n, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&scratch, 2 * n, sizeof *scratch, "scratch", err);
    int log_density_first = strcmp(d->names[0], "lp__") == 0;
    for (size_t j = 0; status == GESS_OK && j < d->columns; j++) {
        size_t column = log_density_first ? (j + 1) % d->columns : j; /* lp__ comes last */
        s->names[j] = d->names[column];
        summarise_column(&s->figures[j], work, d->chains, n, d->values + column * d->chains * n, scratch);
        s->count++;
    }
    free(scratch);
    gess__posterior_workspace_free(work);
    return status;
}

void gess__summary_free(gess__summary *s)
{
    free(s->names);
    free(s->figures);
    json_decref(s->stats);
    *s = (gess__summary){0};
}

/* ---- the run's cost ---- */

static const char *const stat_names[] = {"evals",    "evals_sampling", "evals_speculative", "updates",
                                         "failures", "seconds",        "seconds_sampling",  "nans",
                                         "warmup",   "warmup_settled", "targets_met"};
enum { STATS = sizeof stat_names / sizeof *stat_names };

int gess__summary_set_stats(gess__summary *s, const gess_stats *stats, gess_error *err)
{
    json_decref(s->stats);
    s->stats = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:b, s:b}", "evals", (json_int_t)stats->evals,
                         "evals_sampling", (json_int_t)stats->evals_sampling, "evals_speculative",
                         (json_int_t)stats->evals_speculative, "updates", (json_int_t)stats->updates, "failures",
                         (json_int_t)stats->failures, "seconds", stats->seconds, "seconds_sampling",
                         stats->seconds_sampling, "nans", (json_int_t)stats->nans, "warmup", (json_int_t)stats->warmup,
                         "warmup_settled", stats->warmup_settled, "targets_met", stats->met);
    if (s->stats == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    return GESS_OK;
}

int gess__summary_load_stats(gess__summary *s, const char *path, gess_error *err)
{
    json_error_t where;
    json_t *root = json_load_file(path, 0, &where);
    if (root == NULL) return gess__fail(err, GESS_ERR_FILE, "%s, line %d: %s", path, where.line, where.text);
    json_decref(s->stats);
    s->stats = json_object();
    for (size_t i = 0; i < STATS; i++) {
        json_t *value = json_object_get(root, stat_names[i]);
        if (json_is_number(value) || json_is_boolean(value)) json_object_set(s->stats, stat_names[i], value);
    }
    json_decref(root);
    return GESS_OK;
}

/* ---- output ---- */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *gess__summary_json(const gess__summary *s)
{
    json_t *root = json_object(), *parameters = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        json_t *row = json_object();
        json_object_set_new(row, "name", json_string(s->names[i]));
        const struct {
            const char *key;
            double value;
        } fields[] =
            {{"mean", f->mean},         {"sd", f->sd},       {"mcse_mean", f->mcse_mean}, {"q5", f->q5},
             {"q50", f->q50},           {"q95", f->q95},     {"ess_bulk", f->ess_bulk},   {"ess_tail", f->ess_tail},
             {"ess_coda", f->ess_coda}, {"r_hat", f->r_hat}, {"geweke", f->geweke}};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
            json_object_set_new(row, fields[k].key, number(fields[k].value));
        json_array_append_new(parameters, row);
    }
    json_object_set_new(root, "parameters", parameters);
    json_object_set_new(root, "chains", json_integer((json_int_t)s->chains));
    json_object_set_new(root, "draws", json_integer((json_int_t)s->draws));
    for (size_t i = 0; i < STATS; i++) {
        json_t *value = json_object_get(s->stats, stat_names[i]);
        json_object_set(root, stat_names[i], value != NULL ? value : json_null());
    }
    return root;
}

/* Columns that a terminal shows for UTF-8 text: bytes that do not continue a character. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void print_cell(FILE *out, double x, const char *format)
{
    char text[32] = "NA";
    if (isfinite(x)) snprintf(text, sizeof text, format, x);
    fprintf(out, " %10s", text);
}

void gess__summary_print(const gess__summary *s, FILE *out)
{
    static const char *const heads[] = {"mean", "sd", "mcse_mean", "q5", "q50", "q95", "ess_bulk", "ess_tail", "r_hat"};
    int width = 4;
    for (size_t i = 0; i < s->count; i++)
        if (width_of(s->names[i]) > width) width = width_of(s->names[i]);
    fprintf(out, "%-*s", width, "");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) fprintf(out, " %10s", heads[i]);
    fputc('\n', out);
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        for (const char *c = s->names[i]; *c != '\0'; c++) fputc((unsigned char)*c < ' ' ? '?' : *c, out);
        fprintf(out, "%*s", width - width_of(s->names[i]), "");
        const double plain[] = {f->mean, f->sd, f->mcse_mean, f->q5, f->q50, f->q95};
        for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) print_cell(out, plain[k], "%.4g");
        print_cell(out, f->ess_bulk, "%.0f");
        print_cell(out, f->ess_tail, "%.0f");
        print_cell(out, f->r_hat, "%.4f");
        fputc('\n', out);
    }
    fprintf(out, "\n%zu chains of %llu draws", s->chains, (unsigned long long)s->draws);
    json_int_t evals = json_integer_value(json_object_get(s->stats, "evals"));
    if (evals > 0)
        fprintf(out, "; %lld evaluations (%lld after warm-up), %.1f s", (long long)evals,
                (long long)json_integer_value(json_object_get(s->stats, "evals_sampling")),
                json_number_value(json_object_get(s->stats, "seconds")));
    fputc('\n', out);
    json_int_t nans = json_integer_value(json_object_get(s->stats, "nans"));
    json_int_t failures = json_integer_value(json_object_get(s->stats, "failures"));
    if (nans > 0) fprintf(out, "%lld evaluations gave NaN and were counted as outside the support\n", (long long)nans);
    if (failures > 0)
        fprintf(out, "%lld updates found no new point in their bracket and kept their state\n", (long long)failures);
}
