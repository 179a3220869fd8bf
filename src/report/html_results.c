/* What the results of the page show beside figures of draws: the parameters of the corner plot, true values, priors and
 * the evidence. */
#include "base/mem.h"
#include "report/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN_CORNER = 5, PRIOR_DRAWS = 1 << 14 };

/* Reads the draws of the plotted parameters once more, thinned, because their range decides where priors are drawn. */
static int find_priors(gess__report *report, gess_error *err)
{
    size_t without = 0;
    GESS_TRY(gess__plot_data_read(&report->priors, report->draws, &report->summary, report->plotted, report->rows,
                                  PRIOR_DRAWS, err));
    return gess__plot_priors(&report->priors, report->directory, report->draws, &report->summary, report->rows,
                             &without, err);
}

int gess__report_results(gess__report *report, const gess__report_wishes *wishes, gess_error *err)
{
    GESS_ALLOC(&report->corner, report->summary.count, err);
    GESS_TRY(
        gess__plot_choose_corner(report->draws, &report->summary, IN_CORNER, report->corner, &report->in_corner, err));
    report->moments = wishes->moments;
    if (wishes->truth != NULL) {
        GESS_ALLOC(&report->truth, report->summary.count, err);
        GESS_TRY(gess__read_truth(wishes->truth, &report->summary, report->truth, err));
    }
    return wishes->prior ? find_priors(report, err) : GESS_OK;
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Adds to each plot its true value and the curve of its prior. */
static void add_to_plots(json_t *plots, const gess__report *report)
{
    for (size_t i = 0; i < report->plotted; i++) {
        json_t *plot = json_array_get(plots, i), *x = json_array(), *y = json_array();
        if (report->truth != NULL) json_object_set_new(plot, "truth", number(report->truth[report->rows[i]]));
        const gess__plotted *p = report->priors.count > 0 ? &report->priors.parameter[i] : NULL;
        for (size_t k = 0; p != NULL && k < p->prior_points; k++) {
            json_array_append_new(x, json_real((double)(float)p->prior_x[k]));
            json_array_append_new(y, json_real((double)(float)p->prior_density[k]));
        }
        if (json_array_size(x) > 0) json_object_set_new(plot, "prior", json_pack("{s:O, s:O}", "x", x, "y", y));
        json_decref(x);
        json_decref(y);
    }
}

/* The numbers of evidence.json that the page shows. */
static json_t *evidence_of(const json_t *evidence)
{
    static const char *const keys[] = {"log_evidence", "se", "evals"};
    const char *verdict = json_string_value(json_object_get(evidence, "verdict"));
    if (!json_is_object(evidence)) return json_null();
    json_t *copy = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(evidence, keys[i]);
        json_object_set_new(copy, keys[i], json_is_number(value) ? json_real(json_number_value(value)) : json_null());
    }
    json_object_set_new(copy, "refused", json_boolean(verdict == NULL || strcmp(verdict, "agree") != 0));
    return copy;
}

void gess__report_add_results(json_t *root, const gess__report *report)
{
    json_t *corner = json_array();
    for (size_t i = 0; i < report->in_corner; i++)
        for (size_t k = 0; k < report->plotted; k++)
            if (report->rows[k] == report->corner[i]) json_array_append_new(corner, json_integer((json_int_t)k));
    json_object_set_new(root, "corner", corner);
    json_object_set_new(root, "moments", json_boolean(report->moments));
    json_object_set_new(root, "evidence", evidence_of(report->evidence));
    add_to_plots(json_object_get(root, "plots"), report);
}
