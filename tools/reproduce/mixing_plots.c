/* Draws the bar charts of the mixing figure with gnuplot, and fills the tables of its page. */
#include "reproduce/mixing.h"

#include <math.h>
#include <string.h>

/* The range of the axis: whole powers of ten around the bars, or any if there are none. */
static void put_range(FILE *s, const gess__mixing_bars *b, enum gess__mixing_metric m, const size_t *which,
                      size_t count)
{
    double low = INFINITY, high = 0.0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < DENSITIES; i++) {
            const gess__mixing_bar *x = &b->of[i][which[k]];
            if (!gess__mixing_shown(x, m)) continue;
            low = fmin(low, x->height[m]);
            high = fmax(high, x->height[m] + (isnan(x->error[m]) ? 0.0 : x->error[m]));
        }
    if (high == 0.0) low = high = 1.0;
    fprintf(s, "set yrange [1e%.0f:1e%.0f]\n", floor(log10(0.7 * low)), ceil(log10(1.05 * high)));
}

static void put_bars(FILE *s, const gess__mixing_bars *b, enum gess__mixing_metric m, const size_t *which, size_t count,
                     const char *title)
{
    double width = 0.8 / (double)count;
    fprintf(s, "$bars << EOD\n");
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < DENSITIES; i++) {
            const gess__mixing_bar *x = &b->of[i][which[k]];
            double error = isnan(x->error[m]) ? 0.0 : x->error[m];
            if (gess__mixing_shown(x, m))
                fprintf(s, "%.4f %.5g %.5g %.5g\n", (double)i - 0.4 + width * ((double)k + 0.5), x->height[m],
                        fmax(x->height[m] - error, 0.02 * x->height[m]), x->height[m] + error);
        }
        fputs("-10 1 1 1\n\n\n", s); /* a block is never empty */
    }
    fputs("EOD\n", s);
    put_range(s, b, m, which, count);
    fprintf(s, "set title '%s'\nset xtics rotate by 25 right (", title);
    for (size_t i = 0; i < DENSITIES; i++)
        fprintf(s, "%s'%s' %zu", i > 0 ? ", " : "", gess__mixing_densities[i].label, i);
    fprintf(s, ")\nset boxwidth %.4f\nplot ", 0.92 * width);
    for (size_t k = 0; k < count; k++)
        fprintf(s,
                "%s$bars index %zu using 1:2 with boxes lc rgb '%s' title '%s', $bars index %zu using "
                "1:3:(0):($4-$3) with vectors nohead lw 1.5 lc rgb '#1b2430'",
                k > 0 ? ", " : "", k, gess__mixing_samplers[which[k]].colour, gess__mixing_samplers[which[k]].label, k);
    fputc('\n', s);
}

int gess__mixing_draw(const gess__reproduction *r, const gess__mixing_bars *b, enum gess__mixing_metric first,
                      int paper, json_t *page, const char *file, const char *caption, gess_error *err)
{
    gess__plot plot;
    size_t which[SAMPLERS], count = 0;
    for (size_t k = 0; k < SAMPLERS; k++) {
        size_t trials = 0;
        for (size_t i = 0; i < DENSITIES; i++) trials += b->of[i][k].trials;
        if (trials > 0 && (paper ? gess__mixing_samplers[k].paper : (k == GESS || !gess__mixing_samplers[k].paper)))
            which[count++] = k;
    }
    if (count == 0) return GESS_OK;
    GESS_TRY(gess__plot_begin(&plot, 1200, 520, err));
    fprintf(plot.script,
            "set multiplot layout 1,2\nset style fill solid 0.95 noborder\nset logscale y\nset format y '10^{%%L}'\n"
            "set xrange [-0.6:%g]\nset key outside below horizontal samplen 1 width 1\nset ylabel 'effective "
            "samples'\n",
            DENSITIES - 0.4);
    put_bars(plot.script, b, first, which, count, "per second");
    put_bars(plot.script, b, first + 1, which, count, "per density evaluation");
    fputs("unset multiplot\n", plot.script);
    return gess__plot_end(&plot, r, page, file, caption, err);
}

static void put_number(json_t *row, const gess__mixing_bar *b, enum gess__mixing_metric m, int first)
{
    if (b->trials == 0)
        gess__page_cell(row, "omitted", "—");
    else if (b->failed == b->trials)
        gess__page_cell(row, "omitted", "gave up");
    else if (!gess__mixing_shown(b, m))
        gess__page_cell(row, "omitted", "%.2g ✗", b->height[m]);
    else if (isnan(b->error[m]))
        gess__page_cell(row, first ? "first" : "above", "%.3g", b->height[m]);
    else
        gess__page_cell(row, first ? "first" : "above", "%.3g ± %.1g", b->height[m], b->error[m]);
}

void gess__mixing_table(json_t *page, const gess__mixing_bars *b, enum gess__mixing_metric m)
{
    char title[160], head[256] = "sampler";
    size_t used = strlen(head);
    for (size_t i = 0; i < DENSITIES; i++)
        used += (size_t)snprintf(head + used, sizeof head - used, "|%s", gess__mixing_densities[i].label);
    snprintf(title, sizeof title, "By %s", gess__mixing_metrics[m]);
    json_t *rows = gess__page_table(page, title, head);
    for (size_t k = 0; k < SAMPLERS; k++) {
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%s", gess__mixing_samplers[k].label);
        for (size_t i = 0; i < DENSITIES; i++) {
            int first = gess__mixing_samplers[k].paper;
            for (size_t l = 0; l < SAMPLERS; l++)
                if (gess__mixing_samplers[l].paper && l != k) first &= gess__mixing_beats(b, i, k, l, m);
            put_number(row, &b->of[i][k], m, first);
        }
        json_array_append_new(rows, row);
    }
}

void gess__mixing_convergence(json_t *page, const gess__mixing_bars *b)
{
    char head[256] = "sampler";
    size_t used = strlen(head);
    for (size_t i = 0; i < DENSITIES; i++)
        used += (size_t)snprintf(head + used, sizeof head - used, "|%s", gess__mixing_densities[i].label);
    json_t *rows = gess__page_table(page, "Convergence: trials that Geweke rejects, worst R-hat", head);
    for (size_t k = 0; k < SAMPLERS; k++) {
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%s", gess__mixing_samplers[k].label);
        for (size_t i = 0; i < DENSITIES; i++) {
            const gess__mixing_bar *x = &b->of[i][k];
            if (x->trials == 0)
                gess__page_cell(row, "omitted", "—");
            else if (x->failed == x->trials)
                gess__page_cell(row, "omitted", "gave up");
            else
                gess__page_cell(row,
                                gess__mixing_shown(x, LOG_EVAL) && gess__mixing_shown(x, BULK_EVAL) ? "above"
                                                                                                    : "omitted",
                                x->failed > 0 ? "%zu of %zu, %.3f, %zu gave up" : "%zu of %zu, %.3f", x->rejected,
                                x->trials, x->rhat, x->failed);
        }
        json_array_append_new(rows, row);
    }
}
