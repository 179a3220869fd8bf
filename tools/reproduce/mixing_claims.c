/* Judges the paper's claims about mixing, and those beyond the paper, by the bars of the figure. A claim about all
 * densities is judged before all cells are there if those that are missing cannot change the verdict. */
#include "bench/measure.h"
#include "reproduce/mixing.h"

/* The claim holds if it is true of more than half of the densities. */
static enum gess__ruling most_of(size_t n, size_t all)
{
    return all == 0 ? GESS__NOT_JUDGED : 2 * n > all ? GESS__HOLDS : n > 0 ? GESS__IN_PART : GESS__FAILS;
}

/* The same, where `open` of all densities are still open. */
static enum gess__ruling most_if_open(size_t n, size_t open, size_t all)
{
    if (2 * n > all || open == 0) return most_of(n, all);
    return 2 * (n + open) > all ? GESS__NOT_JUDGED : n > 0 ? GESS__IN_PART : GESS__NOT_JUDGED;
}

/* The densities on which some of the paper's samplers were not run, as a bit mask. */
static unsigned open_densities(const gess__mixing_bars *b)
{
    unsigned mask = 0;
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++)
            if (gess__mixing_samplers[k].paper && b->of[i][k].trials == 0) mask |= 1u << i;
    return mask;
}

/* Writes the names of the densities in a bit mask; "none" if it is empty. */
static void list_densities(unsigned mask, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (size_t i = 0; i < DENSITIES; i++)
        if (mask >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     gess__mixing_densities[i].label);
}

/* " Not run with all seven: …", if there are such densities. */
static void say_open(unsigned open, char *text, size_t size)
{
    char names[200];
    text[0] = '\0';
    if (open == 0) return;
    list_densities(open, names, sizeof names);
    snprintf(text, size, " Not run with all seven: %s.", names);
}

/* The verdict on GESS being first, by the bit masks of densities. */
static enum gess__ruling rule_first(unsigned first, unsigned beats_four, unsigned open)
{
    int n = __builtin_popcount(first), four = __builtin_popcount(beats_four);
    if (2 * n > DENSITIES) return GESS__HOLDS;
    if (2 * (n + __builtin_popcount(open & ~first)) > DENSITIES) return GESS__NOT_JUDGED;
    if (2 * four > DENSITIES) return GESS__IN_PART;
    return 2 * (four + __builtin_popcount(open & ~beats_four)) > DENSITIES ? GESS__NOT_JUDGED : GESS__FAILS;
}

void gess__mixing_judge_first(json_t *page, const gess__mixing_bars *b, enum gess__mixing_metric m)
{
    static const size_t rivals[] = {1, 2, 3, 4};
    char claim[256], four[200], all[200], lost[200], rest[256];
    unsigned beats_four = 0, first = 0, omitted = 0, open = open_densities(b);
    int all_gave_up = 1;
    for (size_t i = 0; i < DENSITIES; i++) {
        int wins = 1, best = 1;
        all_gave_up &= b->of[i][GESS].failed == b->of[i][GESS].trials;
        for (size_t k = 0; k < sizeof rivals / sizeof *rivals; k++)
            wins &= gess__mixing_beats(b, i, GESS, rivals[k], m);
        for (size_t k = 1; k < SAMPLERS; k++)
            if (gess__mixing_samplers[k].paper) best &= gess__mixing_beats(b, i, GESS, k, m);
        beats_four |= (unsigned)wins << i;
        first |= (unsigned)best << i;
        omitted |= (unsigned)(b->of[i][GESS].trials > 0 && !gess__mixing_shown(&b->of[i][GESS], m)) << i;
    }
    list_densities(beats_four, four, sizeof four);
    list_densities(first, all, sizeof all);
    list_densities(omitted, lost, sizeof lost);
    say_open(open, rest, sizeof rest);
    snprintf(claim, sizeof claim,
             "For the most part, GESS samples more effectively than the other algorithms: by %s%s.",
             gess__mixing_metrics[m], m > LOG_EVAL ? " (a stricter metric, not the paper's)" : "");
    gess__page_claim(page, all_gave_up ? GESS__NOT_JUDGED : rule_first(first, beats_four, open), claim,
                     "Of all seven samplers first on %d of %d densities (%s; bound: more than half); ahead of RDSS, "
                     "CWSS, MH and AMH on %d (%s; with more than half of this alone it holds in part). GESS has no bar "
                     "on: %s.%s",
                     __builtin_popcount(first), DENSITIES, all, __builtin_popcount(beats_four), four, lost, rest);
}

void gess__mixing_judge_tempering(json_t *page, const gess__mixing_bars *b)
{
    size_t behind[2] = {0}, before[2] = {0}, open = 0;
    for (size_t i = 0; i < DENSITIES; i++) {
        open += b->of[i][GESS].trials == 0 || b->of[i][TEMPERING].trials == 0;
        for (int m = LOG_SECOND; m <= LOG_EVAL; m++) {
            behind[m] += (size_t)gess__mixing_beats(b, i, GESS, TEMPERING, (enum gess__mixing_metric)m);
            before[m] += (size_t)gess__mixing_beats(b, i, TEMPERING, GESS, (enum gess__mixing_metric)m);
        }
    }
    size_t min = behind[0] < behind[1] ? behind[0] : behind[1];
    gess__page_claim(
        page, most_if_open(min, open, DENSITIES), "PT performs poorly, for only one of its chains counts.",
        "By the paper's metric PT is behind GESS on %zu of %d densities per second and on %zu per evaluation, "
        "ahead of it on %zu and %zu (where GESS has no bar, for instance); on the others neither has a bar (bound: "
        "behind on more than half, by both). Not run with both: %zu.",
        behind[0], DENSITIES, behind[1], before[0], before[1], open);
}

void gess__mixing_judge_hmc(json_t *page, const gess__mixing_bars *b)
{
    const gess__mixing_bar *snp = &b->of[SNP][HMC];
    char where[200], rest[256];
    unsigned mask = 0, open = open_densities(b);
    say_open(open, rest, sizeof rest);
    for (size_t i = 0; i < DENSITIES; i++) {
        size_t better = 0;
        for (size_t k = 0; k < SAMPLERS; k++)
            if (gess__mixing_samplers[k].paper && k != HMC)
                better += (size_t)gess__mixing_beats(b, i, k, HMC, LOG_EVAL);
        mask |= (unsigned)(i != SNP && !(open >> i & 1) && better <= 2 && gess__mixing_shown(&b->of[i][HMC], LOG_EVAL))
                << i;
    }
    list_densities(mask, where, sizeof where);
    gess__page_claim(page,
                     most_if_open((size_t)__builtin_popcount(mask), (size_t)__builtin_popcount(open & ~(1u << SNP)),
                                  DENSITIES - 1),
                     "HMC performs well.",
                     "Among the best three of the seven per evaluation, by the paper's metric, on %d of the %d "
                     "densities "
                     "other than SNP (%s).%s",
                     __builtin_popcount(mask), DENSITIES - 1, where, rest);
    gess__page_claim(page,
                     snp->failed == snp->trials           ? GESS__NOT_JUDGED
                     : !gess__mixing_shown(snp, LOG_EVAL) ? GESS__HOLDS
                     : !(snp->rhat <= 1.1)                ? GESS__IN_PART
                                                          : GESS__FAILS,
                     "HMC fails to converge on SNP, whose density is only piecewise continuous.",
                     "Geweke's diagnostic rejects %zu of %zu trials, and %zu gave up (bound: together more than "
                     "half); the worst R-hat is %.3f.",
                     snp->rejected, snp->trials, snp->failed, snp->rhat);
}

void gess__mixing_judge_beyond(json_t *page, const gess__mixing_bars *b)
{
    enum { EMCEE = AUTO + 1, ZEUS = AUTO + 2 };
    char python[1024];
    size_t groups = 0, autos = 0, peers = 0, with_groups = 0, with_autos = 0, with_peers = 0;
    for (size_t i = 0; i < DENSITIES; i++) {
        with_groups += (size_t)gess__mixing_compared(b, i, GESS, GROUPS_OF_50);
        groups += (size_t)gess__mixing_beats(b, i, GESS, GROUPS_OF_50, BULK_EVAL);
        with_autos += (size_t)gess__mixing_compared(b, i, AUTO, GESS);
        autos += (size_t)gess__mixing_beats(b, i, AUTO, GESS, BULK_EVAL);
        with_peers += (size_t)(gess__mixing_compared(b, i, AUTO, EMCEE) && gess__mixing_compared(b, i, AUTO, ZEUS));
        peers += (size_t)(gess__mixing_beats(b, i, AUTO, EMCEE, BULK_EVAL) &&
                          gess__mixing_beats(b, i, AUTO, ZEUS, BULK_EVAL));
    }
    gess__page_claim(page, most_of(groups, with_groups),
                     "(Not of the paper.) Groups of 100 chains do better than groups of 50 with the same fits.",
                     "By bulk ESS per evaluation on %zu of %zu densities with both.", groups, with_groups);
    gess__page_claim(page, most_of(autos, with_autos),
                     "(Not of the paper.) gess as it runs by default is ahead of the paper's schedule.",
                     "By bulk ESS per evaluation of sampling on %zu of %zu densities with both.", autos, with_autos);
    if (with_peers > 0 || gess__peers_found(python))
        gess__page_claim(page, most_of(peers, with_peers),
                         "(Not of the paper.) gess as it runs by default is ahead of emcee and zeus.",
                         "By bulk ESS per evaluation of sampling on %zu of %zu densities with all three.", peers,
                         with_peers);
}
