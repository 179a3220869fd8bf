/* `gess diagnose`: prints the verdict on a run. The rules behind it are in src/report (verdict.h); src/diagnose holds
 * the figures. */
#include "command.h"
#include "report/verdict.h"
#include "run/run.h"

#include <stdlib.h>
#include <unistd.h>

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
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    gess__summary summary = {0};
    gess__verdict verdict = {0};
    int status = gess__summarise_run(&summary, a.directory, (gess__summary_settings){0}, err);
    if (status == GESS_OK) status = gess__judge_run(&verdict, &summary, a.directory, err);
    if (status == GESS_OK && a.json) {
        status = print_json(gess__verdict_json(&verdict, &summary), err);
    } else if (status == GESS_OK) {
        gess__verdict_print(&verdict, &summary, stdout);
        status = finish_output(err);
    }
    if (status == GESS_OK && !verdict.pass) status = GESS_ERR_NOT_CONVERGED;
    gess__verdict_free(&verdict);
    gess__summary_free(&summary);
    return status;
}
