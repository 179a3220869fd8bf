/* `gess eval`: evaluates the log density at given points. */
#include "base/csv.h"
#include "base/mem.h"
#include "command.h"
#include "model/model.h"

#include <stdlib.h>

struct arguments {
    const char *model, *points, *data;
    int gradient;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'p': a->points = argument; return 0;
    case 'g': a->gradient = 1; return 0;
    case 'd': a->data = argument; return 0;
    default: return take_one(key, argument, state, &a->model, "which model? `gess models` lists them");
    }
}

static int print_values(const gess_model *model, const gess__table *table, int gradient, double *logp,
                        double *gradients, gess_error *err)
{
    size_t dim = model->dim;
    int code = gradient ? model->gradient(model->user, 0, table->rows, dim, table->values, logp, gradients)
                        : gess__model_logp(model, 0, table->rows, table->values, logp);
    if (code != 0) return gess__fail(err, GESS_ERR_MODEL, "the model returned error %d", code);
    printf("lp__");
    for (size_t i = 0; i < dim && gradient; i++) {
        char buffer[32];
        char name[512];
        snprintf(name, sizeof name, "d_%s", gess__parameter_name(model, i, buffer));
        putchar(',');
        gess__csv_put_name(stdout, name);
    }
    putchar('\n');
    for (size_t row = 0; row < table->rows; row++) {
        printf("%.17g", logp[row]);
        for (size_t i = 0; i < dim && gradient; i++) printf(",%.17g", gradients[row * dim + i]);
        putchar('\n');
    }
    return finish_output(err);
}

static int evaluate(const gess_model *model, const gess__table *table, const struct arguments *a, gess_error *err)
{
    double *logp = NULL, *gradients = NULL;
    if (table->columns != model->dim)
        return gess__fail(err, GESS_ERR_USAGE, "%s: %zu columns, but %s has %zu parameters",
                          a->points != NULL ? a->points : "standard input", table->columns, a->model, model->dim);
    if (a->gradient && model->gradient == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "%s has no gradient; leave out --gradient", a->model);
    int status = gess__alloc_bytes(&logp, table->rows, sizeof *logp, "values", err);
    if (status == GESS_OK && a->gradient)
        status = gess__alloc_bytes(&gradients, table->rows * model->dim, sizeof *gradients, "gradients", err);
    if (status == GESS_OK) status = print_values(model, table, a->gradient, logp, gradients, err);
    free(logp);
    free(gradients);
    return status;
}

int command_eval(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] =
        {{"points", 'p', "FILE", 0, "CSV of points, one per row, header optional (default: standard input)", 0},
         {"gradient", 'g', NULL, 0, "print gradients, too", 0},
         {"data", 'd', "FILE", 0, "data file of your own model", 0},
         {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "MODEL",
         .doc = "Prints the log density of MODEL at given points: CSV in, CSV out, 17 digits."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    gess_model *model = NULL;
    gess__table table = {0};
    int status = gess_model_open(&model, a.model, a.data, err);
    if (status == GESS_OK) status = gess__table_read(&table, a.points != NULL ? a.points : "/dev/stdin", err);
    if (status == GESS_OK) status = evaluate(model, &table, &a, err);
    gess__table_free(&table);
    gess_model_free(model);
    return status;
}
