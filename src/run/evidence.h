/* The evidence of a run: what evidence/ needs to know of it. */
#ifndef GESS_RUN_EVIDENCE_H
#define GESS_RUN_EVIDENCE_H

#include "evidence/evidence.h"
#include "run/run.h"

/* Computes the evidence of the draws that are stored, with a standard error of at most `error` if `evals` evaluations
 * are enough for it. The run has a directory, and its lock; it is sampling or finished. If it has helper ranks, they
 * have been gathered. Values are stored in the directory, in evidence.values. */
int gess__run_evidence(gess_run *run, double error, uint64_t evals, gess__evidence_result *result, gess_error *err);

/* Whether --target-evidence-error asks for more draws than the stored ones: the error is too large with fresh draws in
 * proportion to them. No if the option is not set, or the run has no directory. The answer depends on the draws only.
 */
int gess__evidence_wants_draws(gess_run *run, int *more, gess_error *err);

/* Removes evidence.json, which is not that of the draws that will follow. The values stay. */
void gess__evidence_forget(const gess_run *run);

#endif
