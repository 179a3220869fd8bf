/* The shortest program: samples a density of its own into a run directory, and prints the summary.
 *
 *   cc shortest.c $(pkg-config --cflags --libs gess) -o shortest && ./shortest DIR */
#include <gess/draws.h>

#include <stdio.h>

/* A banana: x ~ N(0, 1), y given x ~ N(x², 0.5²). So y has mean 1 and standard deviation 1.5. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double x = points[i * dim], y = points[i * dim + 1], r = (y - x * x) / 0.5;
        values[i] = -0.5 * (x * x + r * r);
    }
    return 0;
}

int main(int argc, char **argv)
{
    gess_density density = {.size = sizeof density, .name = "banana", .dim = 2, .logp = logp};
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    gess_summary *summary = NULL;
    char *text = NULL;
    gess_error err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: shortest DIR\n");
        return GESS_ERR_USAGE;
    }
    int status = gess_model_new(&model, &density, &err);
    if (status == GESS_OK) status = gess_options_new(&options, &err);
    if (status == GESS_OK) status = gess_run_new(&run, model, options, argv[1], &err);
    if (status == GESS_OK) status = gess_run_go(run, &err);
    if (status == GESS_OK) status = gess_summary_new_run(&summary, run, NULL, 0, &err);
    if (status == GESS_OK) status = gess_summary_text(summary, GESS_FORMAT_TEXT, 0, &text, &err);
    if (status == GESS_OK)
        fputs(text, stdout);
    else
        fprintf(stderr, "shortest: %s\n", err.text);
    gess_text_free(text);
    gess_summary_free(summary);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
    return status;
}
