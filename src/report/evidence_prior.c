/* What a model's own prior says about its evidence: the information, which is the Kullback-Leibler divergence of the
 * posterior from the prior, E log L − log Z with the likelihood L = π / prior; and values of the prior by which two
 * models are compared. */
#include "base/mem.h"
#include "base/vmath.h"
#include "draws/reader.h"
#include "model/model.h"
#include "report/evidence.h"
#include "run/directory.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_DRAWS = 4000 };

typedef struct means {
    double prior, likelihood, variance; /* variance: of the mean log likelihood, from the chains' means */
} means;

/* Log priors at draws evenly spaced over all chains. */
static int average(const gess_run *run, const gess__reader *file, double *row, means *out, gess_error *err)
{
    const gess_model *model = run->model;
    size_t chains = file->chains, per = MAX_DRAWS / chains > 0 ? MAX_DRAWS / chains : 1;
    double square = 0.0;
    if (per > file->draws) per = (size_t)file->draws;
    *out = (means){0};
    for (size_t c = 0; c < chains; c++) {
        double own = 0.0, prior;
        for (size_t i = 0; i < per; i++) {
            GESS_TRY(gess__reader_rows(file, c, 1, (i + 1) * file->draws / per - 1, 1, row, err));
            if (model->log_prior(model->user, 0, 1, model->dim, row + 1, &prior) != 0 || !isfinite(prior))
                return gess__fail(err, GESS_ERR_MODEL, "the model's log prior failed at a draw of chain %zu", c + 1);
            out->prior += prior / (double)(chains * per);
            own += (row[0] - prior) / (double)per;
        }
        out->likelihood += own / (double)chains;
        square += own * own;
    }
    square = square / (double)chains - out->likelihood * out->likelihood;
    out->variance = chains > 1 ? gess__max(square, 0.0) / ((double)chains - 1.0) : INFINITY;
    return GESS_OK;
}

/* Log priors at points made of fixed normals, in the bounds. */
static void probe(gess__evidence_report *report, const gess_run *run, double *x)
{
    const gess_model *model = run->model;
    const gess__bounds *bounds = &run->ensemble[0]->target.bounds;
    for (size_t k = 0; k < GESS__PRIOR_PROBES; k++) {
        gess__key key = {.seed = 0, .iteration = k, .purpose = GESS__FOR_EVIDENCE};
        gess__normals(key, model->dim, x);
        for (size_t i = 0; i < model->dim; i++) x[i] = gess__bounds_start(bounds, i, x[i], 1.0);
        if (model->log_prior(model->user, 0, 1, model->dim, x, &report->probes[k]) != 0) report->probes[k] = NAN;
    }
}

int gess__evidence_prior(gess__evidence_report *report, const gess_run *run, gess_error *err)
{
    char path[4096];
    gess__reader *file = NULL;
    double *row = NULL;
    means m;
    report->mean_log_prior = report->mean_log_likelihood = report->information = report->information_se = NAN;
    if (run->model->log_prior == NULL) return GESS_OK;
    report->has_prior = 1;
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", path, sizeof path, err));
    int status = gess__reader_open(&file, path, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&row, file->columns, sizeof *row, "draw", err);
    if (status == GESS_OK) status = average(run, file, row, &m, err);
    if (status == GESS_OK) {
        probe(report, run, row);
        report->mean_log_prior = m.prior;
        report->mean_log_likelihood = m.likelihood;
        report->information = m.likelihood - report->result.log_z;
        report->information_se = gess__hypot(sqrt(m.variance), report->result.se);
    }
    free(row);
    gess__reader_free(file);
    return status;
}
