/* The verdict behind `gess diagnose`: whether a run can be trusted, as findings in plain words with numbers and advice.
 * The figures that it judges, such as R-hat and ESS, are in src/diagnose.
 *
 * A run passes if no finding is a failure. The rules are rows of rules.def; docs/specification.md explains them. Blobs
 * are not judged: they may be anything, constant, discrete or NaN. */
#ifndef GESS_REPORT_VERDICT_H
#define GESS_REPORT_VERDICT_H

#include "report/summary.h"

enum { GESS__NOTE, GESS__WARNING, GESS__FAILURE };

typedef struct gess__finding {
    int level;        /* GESS__NOTE, GESS__WARNING or GESS__FAILURE */
    const char *code; /* e.g. "r-hat" */
    char *text;
    char *advice;
} gess__finding;

typedef struct gess__verdict {
    int pass;
    size_t count;
    gess__finding *findings; /* worst first */
    json_t *modes;           /* of the draws (mode_table.h); NULL: there is one, or they are not known */
} gess__verdict;

/* Applies every rule to the run in `directory`, whose draws `summary` describes. If history.json or config.json is
 * missing, the rules that need it are skipped, and a note says so. Free the verdict also after an error. */
int gess__judge_run(gess__verdict *verdict, const gess__summary *summary, const char *directory, gess_error *err);
void gess__verdict_free(gess__verdict *verdict);

/* The smallest bulk ESS and the worst R-hat of all columns that have them; ±INFINITY if none has. (verdict_text.c) */
void gess__verdict_extremes(const gess__summary *summary, double *ess, double *rhat);

/* verdict_text.c: for people, and for programs (a new reference). */
void gess__verdict_print(const gess__verdict *verdict, const gess__summary *summary, FILE *out);
json_t *gess__verdict_json(const gess__verdict *verdict, const gess__summary *summary);

/* Prints text indented, in lines of at most 100 columns if no word is longer. */
void gess__print_wrapped(const char *text, FILE *out);

#endif
