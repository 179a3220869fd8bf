/* The matrices of the scaling table. The paper's are not known; a square Wishart matrix has an eigenvalue near 0, so
 * the trace of its inverse, the covariance, differs by orders of magnitude between seeds, and the hardness with it. */
#include "reproduce/scaling.h"

#include <stdlib.h>

enum { SEEDS = 21 };

typedef struct matrix {
    uint64_t seed;
    double trace;
} matrix;

static int by_trace(const void *a, const void *b)
{
    const matrix *x = a, *y = b;
    return (x->trace > y->trace) - (x->trace < y->trace);
}

static int find_trace(size_t dim, matrix *m, gess_error *err)
{
    char name[64];
    gess_model *model = NULL;
    gess__truth truth = {0};
    snprintf(name, sizeof name, "wishart:dim=%zu,seed=%llu", dim, (unsigned long long)m->seed);
    int status = gess_model_open(&model, name, NULL, err);
    if (status == GESS_OK) status = gess__truth_find(&truth, model, name, err);
    m->trace = 0.0;
    for (size_t i = 0; status == GESS_OK && i < dim; i++) m->trace += truth.sd[i] * truth.sd[i];
    gess__truth_free(&truth);
    gess_model_free(model);
    return status;
}

int gess__matrices_show(json_t *page, gess_error *err)
{
    json_t *rows = gess__page_table(page, "The trace of the covariance of the matrices of seeds 1 to 21",
                                    "D|smallest|median|largest|seed 1, of the table|its place");
    for (size_t d = 1; d <= GESS__SCALING_SIZES; d++) {
        matrix m[SEEDS];
        for (size_t i = 0; i < SEEDS; i++) {
            m[i].seed = i + 1;
            GESS_TRY(find_trace(GESS__SCALING_DIM * d, &m[i], err));
        }
        double first = m[0].trace;
        size_t place = 0;
        qsort(m, SEEDS, sizeof *m, by_trace);
        while (m[place].seed != 1) place++;
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%zu", GESS__SCALING_DIM * d);
        gess__page_cell(row, "number", "%.0f", m[0].trace);
        gess__page_cell(row, "number", "%.0f (seed %llu)", m[SEEDS / 2].trace, (unsigned long long)m[SEEDS / 2].seed);
        gess__page_cell(row, "number", "%.0f", m[SEEDS - 1].trace);
        gess__page_cell(row, "number", "%.0f", first);
        gess__page_cell(row, "number", "%zu of %d", place + 1, SEEDS);
        json_array_append_new(rows, row);
    }
    return GESS_OK;
}
