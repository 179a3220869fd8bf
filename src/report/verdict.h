/* Whether a run is to be trusted: findings in plain words, with numbers and advice.
 *
 * Every rule and threshold is in docs/statistics.md. A run passes where no finding is a failure. */
#ifndef GESS_REPORT_VERDICT_H
#define GESS_REPORT_VERDICT_H

#include "report/summary.h"

enum { GESS__NOTE, GESS__WARNING, GESS__FAILURE };

typedef struct gess__finding {
    int level;        /* 0 note, 1 warning, 2 failure */
    const char *code; /* e.g. "r-hat" */
    char *text;
    char *advice;
} gess__finding;

typedef struct gess__verdict {
    int pass;
    size_t count;
    gess__finding *findings; /* worst first */
} gess__verdict;

/* Judges the draws that `summary` is of, with history.json and config.json of the run directory where they
 * are there; the rules that need a missing one are passed over, and a note says so. */
int gess__judge(gess__verdict *verdict, const gess__summary *summary, const char *directory, gess_error *err);
void gess__verdict_free(gess__verdict *verdict);

/* For people, and for programs (a new reference). */
void gess__verdict_print(const gess__verdict *verdict, const gess__summary *summary, FILE *out);
json_t *gess__verdict_json(const gess__verdict *verdict, const gess__summary *summary);

#endif
