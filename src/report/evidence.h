/* The evidence as it is shown: the numbers of evidence/, whether to trust them, and what they are an integral of.
 *
 * It is refused, with reasons, if the run's own verdict is a failure (chains that disagree, a mode that was lost, too
 * few draws), if T does not cover the draws, if the importance weights have no variance to speak of, or if the two
 * estimates disagree. */
#ifndef GESS_REPORT_EVIDENCE_H
#define GESS_REPORT_EVIDENCE_H

#include "report/verdict.h"
#include "run/evidence.h"

enum { GESS__PRIOR_PROBES = 5 };

typedef struct gess__evidence_report {
    gess__evidence_result result;
    gess__verdict refusal; /* its findings are the reasons; none: it is not refused */
    double annealed;       /* log ∫π by annealing in warm-up, which has no error; NaN: there was none */
    /* if the model gives its prior apart: means over the draws, and the information with its error; NaN otherwise */
    int has_prior;
    double mean_log_prior, mean_log_likelihood, information, information_se;
    double
        probes[GESS__PRIOR_PROBES]; /* the log prior at points that depend on the model's dimension and bounds only */
    /* what was integrated */
    char *model, *directory;
    json_t *parameters;  /* names */
    size_t free;         /* parameters that are not fixed */
    size_t observations; /* 0: the model does not say */
    uint32_t data;       /* checksum of the data file; 0: there is none */
} gess__evidence_report;

/* Computes and judges the evidence of a run. Free the report also after an error. (evidence.c) */
int gess__evidence_report_run(gess__evidence_report *report, gess_run *run, double error, uint64_t evals,
                              gess_error *err);
void gess__evidence_report_free(gess__evidence_report *report);

/* Sets the fields about the prior; log_z must be set. (evidence_prior.c) */
int gess__evidence_prior(gess__evidence_report *report, const gess_run *run, gess_error *err);

/* evidence_text.c: for people, and for programs (a new reference). */
void gess__evidence_print(const gess__evidence_report *report, FILE *out);
json_t *gess__evidence_json(const gess__evidence_report *report);

/* compare.c: log Bayes factors of several. */
void gess__compare_print(size_t count, const gess__evidence_report *const *reports, FILE *out);
json_t *gess__compare_json(size_t count, const gess__evidence_report *const *reports);

#endif
