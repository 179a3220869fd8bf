/* The summary of a run: figures of every parameter, and what it cost. */
#ifndef GESS_REPORT_SUMMARY_H
#define GESS_REPORT_SUMMARY_H

#include "draws/store.h"

#include <jansson.h>
#include <stdio.h>

typedef struct gess__figures {
    double mean, sd, mcse_mean, q5, q50, q95, ess_bulk, ess_tail, ess_coda, r_hat, geweke;
} gess__figures;

typedef struct gess__summary {
    size_t count;       /* parameters in model order, lp__ last */
    const char **names; /* borrowed from the draws */
    gess__figures *figures;
    size_t chains;
    uint64_t draws;
    json_t *stats; /* evals, seconds, …: null where they are not known */
} gess__summary;

/* Summarises draws, which must outlive the summary. */
int gess__summarise(gess__summary *summary, const gess__draws *draws, gess_error *err);
void gess__summary_free(gess__summary *summary);

/* Takes the run's cost from the statistics, or from an earlier summary.json. */
int gess__summary_set_stats(gess__summary *summary, const gess_stats *stats, gess_error *err);
int gess__summary_load_stats(gess__summary *summary, const char *path, gess_error *err);

/* An aligned table for people. */
void gess__summary_print(const gess__summary *summary, FILE *out);

/* The JSON of `summary --json`, a new reference; NA as null. */
json_t *gess__summary_json(const gess__summary *summary);

#endif
