/* `gess diagnose`: prints the verdict on a run. */
#include "command.h"

#include <gess/draws.h>

struct arguments {
    const char *directory;
    int json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

int command_diagnose(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "print JSON", 0}, {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "DIR",
         .doc = "Says in plain words whether the run in DIR can be trusted and, if not, what to do. "
                "Exit status 0: yes, 6: no."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    gess_verdict *verdict = NULL;
    gess_verdict_result result = {0};
    char *text = NULL;
    int status = gess_verdict_new(&verdict, a.directory, NULL, err);
    if (status == GESS_OK) status = gess_verdict_info(verdict, &result, sizeof result, err);
    if (status == GESS_OK)
        status = gess_verdict_text(verdict, a.json ? GESS_FORMAT_JSON : GESS_FORMAT_TEXT, &text, err);
    if (status == GESS_OK) status = print_text(text, err);
    if (status == GESS_OK && !result.pass) status = GESS_ERR_NOT_CONVERGED;
    gess_verdict_free(verdict);
    return status;
}
