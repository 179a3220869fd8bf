/* `gess evidence`: prints the log of the integral of a run's density, with its error. */
#include "command.h"

#include <gess/draws.h>
#include <stdlib.h>

struct arguments {
    const char *directory;
    int json;
    gess_evidence_settings settings;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    case 't':
    case 'e':
    case 'm':
        if (!take_evidence_setting(key, argument, &a->settings))
            USAGE(state, "`%s` is not a positive number%s", argument, key == 'e' ? "" : " without fractions");
        return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

bool take_evidence_setting(int key, const char *argument, gess_evidence_settings *settings)
{
    char *end;
    double value = strtod(argument, &end);
    if (end == argument || *end != '\0' || !(value > 0.0) || !(value < 1e18)) return false;
    if (key == 'e') {
        settings->target_error = value;
        return true;
    }
    if (value < 1.0 || value != (double)(uint64_t)value) return false;
    if (key == 't') settings->threads = value < 4096.0 ? (unsigned)value : 4096;
    if (key == 'm') settings->max_evals = (uint64_t)value;
    return true;
}

int command_evidence(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "print JSON", 0}, EVIDENCE_SETTINGS, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = take,
        .args_doc = "DIR",
        .doc =
            "Prints the log of the integral of the density that the run in DIR has sampled, by bridge sampling between "
            "its draws and some thousand fresh draws of the approximation T, with a standard error and a second "
            "estimate. Exit status 0: done, 6: refused, with the reasons."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    gess_evidence *evidence = NULL;
    gess_evidence_result result = {0};
    char *text = NULL;
    int status = gess_evidence_open(&evidence, a.directory, &a.settings, sizeof a.settings, err);
    if (status == GESS_OK) status = gess_evidence_info(evidence, &result, sizeof result, err);
    if (status == GESS_OK)
        status = gess_evidence_text(evidence, a.json ? GESS_FORMAT_JSON : GESS_FORMAT_TEXT, &text, err);
    if (status == GESS_OK) status = print_text(text, err);
    if (status == GESS_OK) status = finish_output(err);
    if (status == GESS_OK && result.refused) status = GESS_ERR_NOT_CONVERGED;
    gess_evidence_free(evidence);
    return status;
}
