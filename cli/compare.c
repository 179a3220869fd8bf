/* `gess compare`: log Bayes factors of several runs. */
#include "command.h"
#include "launch.h"

#include <gess/draws.h>
#include <stdlib.h>

enum { MAX_RUNS = 1000 };

struct arguments {
    const char *directories[MAX_RUNS];
    size_t count;
    struct evidence_arguments evidence;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (take_evidence_option(key, argument, state, &a->evidence)) return 0;
    switch (key) {
    case ARGP_KEY_ARG:
        if (a->count == MAX_RUNS) USAGE(state, "at most %d runs can be compared", MAX_RUNS);
        a->directories[a->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->count < 2) USAGE(state, "which runs? give the directories of two or more");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Computes the evidence of every run, and prints the comparison. */
static int compare(const struct arguments *a, gess_evidence **evidence, gess_error *err)
{
    int refused = 0;
    char *text = NULL;
    for (size_t i = 0; i < a->count; i++) {
        gess_evidence_result result = {0};
        TRY(open_evidence(&evidence[i], a->directories[i], &a->evidence, &result, err));
        refused |= result.refused;
    }
    if (launch_rank() > 0) return GESS_OK;
    TRY(gess_compare_text(a->count, (const gess_evidence *const *)evidence,
                          a->evidence.json ? GESS_FORMAT_JSON : GESS_FORMAT_TEXT, &text, err));
    TRY(print_text(text, err));
    TRY(finish_output(err));
    return refused ? GESS_ERR_NOT_CONVERGED : GESS_OK;
}

static int compute_and_print(void *data, gess_error *err)
{
    const struct arguments *a = data;
    gess_evidence **evidence = calloc(a->count, sizeof *evidence);
    if (evidence == NULL) return fail(err, GESS_ERR_INTERNAL, "out of memory");
    int status = compare(a, evidence, err);
    for (size_t i = 0; i < a->count; i++) gess_evidence_free(evidence[i]);
    free(evidence);
    return status;
}

int command_compare(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {EVIDENCE_OPTIONS, {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "DIR DIR...",
         .doc = "Prints the log Bayes factors of two or more runs, with their standard errors, "
                "and warns where their data or priors differ. Exit status 0: done, 6: the "
                "evidence of a run is refused; `gess evidence DIR` has the reasons."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    return gess_comm_call(launch_comm(), compute_and_print, &a, err);
}
