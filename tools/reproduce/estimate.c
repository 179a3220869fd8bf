/* The time that cells will take, from cells of the same kind that have been computed. A figure gives each cell a cost
 * in rough seconds, from its iterations or evaluations; a finished cell shows how many seconds a unit of cost is for
 * its kind, that is for its figure, density, sampler or method, and dimension. So a short cell tells about a long one.
 * The time of a cell is unknown if no cell of its kind has been computed. */
#include "reproduce/reproduce.h"

#include <math.h>
#include <string.h>

/* The kind of a cell, by its settings. */
static void name_kind(const json_t *settings, char kind[192])
{
    snprintf(kind, 192, "%s|%s|%s|%s|%llu", gess__json_text(settings, "figure"), gess__json_text(settings, "model"),
             gess__json_text(settings, "sampler"), gess__json_text(settings, "method"),
             (unsigned long long)gess__json_count(settings, "dim"));
}

void gess__rates_note(json_t *rates, const json_t *settings, const json_t *result, double cost)
{
    char kind[192];
    double took = gess__json_real(result, "took"), cpu = gess__json_real(result, "took_cpu");
    if (isnan(cost)) cost = gess__json_real(result, "cost");
    if (!(cost > 0.0) || !(took >= 0.0) || !(cpu >= 0.0)) return;
    name_kind(settings, kind);
    json_t *rate = json_object_get(rates, kind);
    if (rate == NULL) {
        rate = json_pack("{s:f, s:f, s:f}", "cost", 0.0, "took", 0.0, "cpu", 0.0);
        json_object_set_new(rates, kind, rate);
    }
    json_object_set_new(rate, "cost", json_real(gess__json_real(rate, "cost") + cost));
    json_object_set_new(rate, "took", json_real(gess__json_real(rate, "took") + took));
    json_object_set_new(rate, "cpu", json_real(gess__json_real(rate, "cpu") + cpu));
}

double gess__cell_seconds(const json_t *rates, const gess__cell *cell, int cpu)
{
    char kind[192];
    name_kind(cell->settings, kind);
    const json_t *rate = json_object_get(rates, kind);
    return cell->cost * gess__json_real(rate, cpu ? "cpu" : "took") / gess__json_real(rate, "cost");
}

void gess__put_seconds(FILE *out, double seconds)
{
    if (seconds < 90.0)
        fprintf(out, "%.0f s", seconds);
    else if (seconds < 5400.0)
        fprintf(out, "%.0f min", seconds / 60.0);
    else
        fprintf(out, "%.1f h", seconds / 3600.0);
}

void gess__estimate_show(const gess__cells *cells, const gess__reproduction *r)
{
    double known = 0.0;
    size_t missing = 0, unknown = 0;
    if (r->progress == NULL) return;
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->cell[i].result != NULL || !gess__in_shard(r, i)) continue;
        double seconds = gess__cell_seconds(cells->rates, &cells->cell[i], 1);
        missing++;
        if (isnan(seconds))
            unknown++;
        else
            known += seconds;
    }
    if (missing == 0) return;
    fprintf(r->progress, missing == 1 ? "%zu cell is missing: " : "%zu cells are missing: ", missing);
    if (unknown < missing) fprintf(r->progress, "about %.*f core hours", known < 3600.0 ? 2 : 1, known / 3600.0);
    if (unknown > 0)
        fprintf(r->progress, "%sunknown for %zu of them, since no cell of their kind has been computed",
                unknown < missing ? ", and " : "", unknown);
    fputs("\n", r->progress);
    fflush(r->progress);
}
