/* `gess fit`: fits a multivariate t to points. */
#include "command.h"

#include <gess/draws.h>

struct arguments {
    const char *points;
    int json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    default: return take_one(key, argument, state, &a->points, "which points? give a CSV file with one row per point");
    }
}

int command_fit(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "as JSON, for programs and for --approx", 0},
                                                 {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "POINTS.csv",
         .doc = "Fits a multivariate t to points by maximum likelihood (ECME); with fewer than two "
                "points per dimension, in the span of their principal axes."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    gess_fit *fit = NULL;
    char *text = NULL;
    int status = gess_fit_new_csv(&fit, a.points, err);
    if (status == GESS_OK) status = gess_fit_text(fit, a.json ? GESS_FORMAT_JSON : GESS_FORMAT_TEXT, &text, err);
    if (status == GESS_OK) status = print_text(text, err);
    gess_fit_free(fit);
    return status;
}
