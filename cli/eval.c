/* `gess eval`: evaluates the log density at given points. */
#include "command.h"
#include "supervise.h"

#include <gess/draws.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct points {
    size_t rows, columns;
    double *values; /* rows × columns */
};

/* A name of a column, between quotes if it needs them. */
static void put_name(const char *name)
{
    if (strpbrk(name, ",\"\n\r") == NULL) {
        fputs(name, stdout);
        return;
    }
    putchar('"');
    for (; *name != '\0'; name++) {
        if (*name == '"') putchar('"');
        putchar(*name);
    }
    putchar('"');
}

/* A NaN has no sign there: that is the processor's choice, and not every reader takes it. */
static void put_number(const char *before, double number)
{
    printf("%s%.17g", before, isnan(number) ? (double)NAN : number);
}

/* `gradients`: rows × dim, or NULL. */
static int print_values(const gess_model *model, size_t rows, size_t dim, const double *logp, const double *gradients,
                        gess_error *err)
{
    printf("lp__");
    for (size_t i = 0; i < dim && gradients != NULL; i++) {
        char name[512] = "d_";
        TRY(gess_model_name(model, i, name + 2, sizeof name - 2, err));
        putchar(',');
        put_name(name);
    }
    putchar('\n');
    for (size_t row = 0; row < rows; row++) {
        put_number("", logp[row]);
        for (size_t i = 0; i < dim && gradients != NULL; i++) put_number(",", gradients[row * dim + i]);
        putchar('\n');
    }
    return finish_output(err);
}

/* In calls of a few points, so that the parent can name the one at which the density crashes. */
static int evaluate_all(const gess_model *model, const struct points *points, double *logp, double *gradients,
                        gess_error *err)
{
    size_t dim = points->columns;
    for (size_t row = 0; row < points->rows; row += GESS_WATCHED_POINTS) {
        size_t left = points->rows - row, n = left < GESS_WATCHED_POINTS ? left : GESS_WATCHED_POINTS;
        const double *x = points->values + row * dim;
        TRY(supervised_call(n, dim, x, err));
        TRY(gess_model_evaluate(model, n, x, logp + row, gradients != NULL ? gradients + row * dim : NULL, err));
        TRY(supervised_call(0, 0, NULL, err));
    }
    return GESS_OK;
}

static int evaluate(const gess_model *model, const struct points *points, const struct arguments *a, gess_error *err)
{
    gess_model_info info;
    TRY(gess_model_describe(model, &info, sizeof info, err));
    if (points->columns != info.dim)
        return fail(err, GESS_ERR_USAGE, "%s: %zu columns, but %s has %zu parameters",
                    a->points != NULL ? a->points : "standard input", points->columns, a->model, info.dim);
    if (a->gradient && !info.has_gradient)
        return fail(err, GESS_ERR_USAGE, "%s has no gradient; leave out --gradient", a->model);
    double *logp = calloc(points->rows + 1, sizeof *logp);
    double *gradients = a->gradient ? calloc(points->rows * info.dim + 1, sizeof *gradients) : NULL;
    int status = GESS_ERR_INTERNAL;
    if (logp == NULL || (a->gradient && gradients == NULL)) {
        fail(err, status, "out of memory for %zu values", points->rows);
    } else {
        status = evaluate_all(model, points, logp, gradients, err);
        if (status == GESS_OK) status = print_values(model, points->rows, info.dim, logp, gradients, err);
    }
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
    TRY(parse_arguments(&argp, argc, argv, &a));
    gess_model *model = NULL;
    struct points points = {0};
    supervised_begin(a.model, a.data != NULL ? a.data : "", "");
    int status = gess_model_open(&model, a.model, a.data, err);
    supervised_opened();
    if (status == GESS_OK)
        status = gess_csv_read(a.points != NULL ? a.points : "/dev/stdin", &points.rows, &points.columns,
                               &points.values, err);
    if (status == GESS_OK) status = evaluate(model, &points, &a, err);
    gess_values_free(points.values);
    gess_model_free(model);
    return status;
}
