/* The figures of one column of draws, and the memory that computing them takes. */
#ifndef GESS_REPORT_SUMMARY_COLUMN_H
#define GESS_REPORT_SUMMARY_COLUMN_H

#include "diagnose/autocovariance.h"
#include "report/summary.h"

/* The size of the draws, and how their chains were made. */
typedef struct gess__column_shape {
    size_t chains, draws, ensembles;
    bool interacting; /* chains of an ensemble influence each other */
    bool circular;    /* some columns are periodic */
} gess__column_shape;

/* The memory of one worker. */
typedef struct gess__column_workspace {
    gess__posterior_workspace *chains;    /* for all chains */
    gess__posterior_workspace *ensembles; /* for each ensemble as one long chain; NULL: one ensemble */
    gess__posterior_workspace *means;     /* for the ensembles' mean series */
    gess__fft fft;
    double *scratch;              /* at least chains × draws, 2 × draws and 2 × chains */
    double *series;               /* ensembles × draws */
    double *unwrapped;            /* chains × draws; NULL: no column is periodic */
    gess__posterior_chain *chain; /* chains */
} gess__column_workspace;

/* The workspace must be zero; free it after a failure, too. */
int gess__column_workspace_new(gess__column_workspace *work, const gess__column_shape *shape, gess_error *err);
void gess__column_workspace_free(gess__column_workspace *work);

/* Figures of x[chains × draws]. Leaves the draws loaded in work->chains, as they lie on the circle's branch. */
void gess__summarise_column(gess__figures *figures, const gess__column_shape *shape, const gess__circle *circle,
                            const double *x, gess__column_workspace *work);

#endif
