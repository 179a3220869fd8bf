/* The rule of the verdict on heavy tails: says which columns have no mean or standard deviation, and which tails the
 * chains have hardly explored. */
#include "report/rules.h"

#include <string.h>

/* The columns that a finding names: the first few of them, with the index of the heaviest. */
typedef struct columns {
    size_t count, heaviest;
    size_t means; /* of these, how many have no mean either */
    char names[200];
} columns;

static void name_column(columns *c, const gess__summary *s, size_t i)
{
    enum { MAX_NAMES = 12 };
    size_t used = strlen(c->names);
    if (c->count == 0 || s->figures[i].tail.index > s->figures[c->heaviest].tail.index) c->heaviest = i;
    if (c->count < MAX_NAMES && used + strlen(s->names[i]) + 8 < sizeof c->names)
        snprintf(c->names + used, sizeof c->names - used, "%s%s", used > 0 ? ", " : "", s->names[i]);
    else if (used > 0 && strcmp(c->names + used - strlen("…"), "…") != 0)
        snprintf(c->names + used, sizeof c->names - used, ", …");
    c->count++;
}

/* Columns of gess__moments_of() from `from` to `to`; only those with slow tails, or all. */
static columns find_columns(const gess__summary *s, gess__moments_known from, gess__moments_known to, bool slow)
{
    columns c = {0};
    for (size_t i = 0; i < s->count; i++) {
        gess__moments_known moments = gess__moments_of(&s->figures[i].tail);
        if (moments < from || moments > to || (slow && !gess__tails_slow(&s->figures[i].tail))) continue;
        name_column(&c, s, i);
        c.means += moments == GESS__NO_MEAN;
    }
    return c;
}

static void report_slow(gess__judge *j, const columns *slow)
{
    const gess__summary *s = j->s;
    gess__add_finding(j, GESS__WARNING, "slow-tails",
                      "Do not quote quantiles beyond 1 % or probabilities below it: chains saw too little of the far "
                      "tails. A parametrisation with lighter tails, such as a logarithm, helps; more draws help only "
                      "slowly.",
                      "The tails of %s are heavy, and chains stay in them for long: %.0f draws in the tails of %s tell "
                      "no more than one independent draw would.",
                      slow->names, s->figures[slow->heaviest].tail.inefficiency, s->names[slow->heaviest]);
}

static void report_lost(gess__judge *j, const columns *lost)
{
    const gess__tail_index *t = &j->s->figures[lost->heaviest].tail;
    gess__add_finding(j, GESS__NOTE, "heavy-tails",
                      "Quote the median and quantiles (q50, q5, q95) with their standard errors (mcse_q50, mcse_q5, "
                      "mcse_q95) instead.",
                      "The draws of %s give no %s, and no standard error of a mean, because the tails are too heavy: "
                      "the tail index is %.2f ± %.2f for %s, while a standard deviation exists below 1/2 and a mean "
                      "below 1.",
                      lost->names,
                      lost->means == 0             ? "standard deviation"
                      : lost->means == lost->count ? "mean and no standard deviation"
                                                   : "standard deviation, and some of them no mean",
                      t->index, t->se, j->s->names[lost->heaviest]);
}

static void report_doubtful(gess__judge *j, const columns *doubtful)
{
    const gess__tail_index *t = &j->s->figures[doubtful->heaviest].tail;
    gess__add_finding(j, GESS__NOTE, "heavy-tails",
                      "Rather quote the median and quantiles (q50, q5, q95) with mcse_q50, mcse_q5 and mcse_q95.",
                      "The standard deviation of %s is poorly determined, and the standard errors mcse_mean and "
                      "mcse_sd may be far too small: the tail index is %.2f ± %.2f for %s, and tails of an index "
                      "above 1/2 have no standard deviation.",
                      doubtful->names, t->index, t->se, j->s->names[doubtful->heaviest]);
}

void gess__rule_heavy_tails(gess__judge *j)
{
    columns slow = find_columns(j->s, GESS__SD_DOUBTFUL, GESS__NO_MEAN, true),
            lost = find_columns(j->s, GESS__NO_SD, GESS__NO_MEAN, false),
            doubtful = find_columns(j->s, GESS__SD_DOUBTFUL, GESS__SD_DOUBTFUL, false);
    if (slow.count > 0) report_slow(j, &slow);
    if (lost.count > 0) report_lost(j, &lost);
    if (doubtful.count > 0) report_doubtful(j, &doubtful);
}
