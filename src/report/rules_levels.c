/* The rule of the verdict about chains that end at log densities far apart, and the command that restarts from those at
 * the highest level. */
#include "base/mem.h"
#include "base/vmath.h"
#include "report/rerun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends the numbers of the chains at the highest level, as in 1, 4-7, 12; ends with … if they do not fit. */
static void list_high(const gess__summary *s, const gess__levels *levels, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t c = 0; c < s->chains; c++) {
        if (!gess__level_is_high(levels, &s->levels[c])) continue;
        size_t last = c;
        while (last + 1 < s->chains && gess__level_is_high(levels, &s->levels[last + 1])) last++;
        if (used + 50 > size) {
            snprintf(text + used, size - used, ", …");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%zu", used > 0 ? ", " : "", c + 1);
        if (last > c) used += (size_t)snprintf(text + used, size - used, "%s%zu", last > c + 1 ? "-" : ", ", last + 1);
        c = last;
    }
}

/* gess sample MODEL --config DIR/config.json --init-from DIR --best --seed N -o DIR-best. Another seed, because the
 * starts depend on the random numbers of this one. */
static void put_command(FILE *out, const gess__judge *j)
{
    gess__rerun_begin(out, j);
    fputs(" --init-from ", out);
    gess__rerun_directory(out, j, "");
    fprintf(out, " --best --seed %llu", strtoull(gess__option_of(j, "seed"), NULL, 10) + 1);
    gess__rerun_end(out, j, "-best");
}

/* What to do; NULL if memory is short. The caller frees it. */
static char *make_advice(const gess__judge *j)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    fputs("A density hundreds of nats lower has no probability to speak of, unless its region is immensely wider: the "
          "lower chains are most likely in a trap, or have not arrived yet. ",
          out);
    if (gess__can_rerun(j)) {
        fputs("To restart all chains from the higher ones: `", out);
        put_command(out, j);
        fputs("`", out);
    } else {
        fputs("To restart all chains from the higher ones, run again with the options init-from (this run directory) "
              "and best.",
              out);
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

void gess__rule_far_apart(gess__judge *j)
{
    const gess__summary *s = j->s;
    gess__levels levels;
    double *scratch = NULL, nearest = INFINITY, lowest = INFINITY;
    size_t high = 0, far = 0;
    if (s->levels == NULL || s->chains < 2 || s->draws < 4) return;
    if (j->status == GESS_OK) j->status = gess__alloc_bytes(&scratch, 2 * s->chains, sizeof *scratch, "levels", j->err);
    if (j->status != GESS_OK) return;
    bool compared = gess__levels_compare(s->chains, s->levels, scratch, &levels);
    free(scratch);
    for (size_t c = 0; compared && c < s->chains; c++) {
        double median = s->levels[c].median;
        high += gess__level_is_high(&levels, &s->levels[c]);
        lowest = gess__min(lowest, median);
        if (!gess__level_is_far(&levels, &s->levels[c])) continue;
        far++;
        nearest = gess__min(nearest, levels.highest - median);
    }
    if (far == 0) return;
    char chains[300], *advice = make_advice(j);
    list_high(s, &levels, chains, sizeof chains);
    gess__add_finding(j, GESS__FAILURE, "far-apart", advice != NULL ? advice : "",
                      "Chains end at log densities far apart: %zu of %zu chains (%s) are around lp__ = %.6g, and %zu "
                      "are %.4g to %.4g nats lower.",
                      high, s->chains, chains, levels.highest, far, nearest, levels.highest - lowest);
    free(advice);
}
