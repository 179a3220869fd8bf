/* `gess evidence`: prints the log of the integral of a run's density, with its error. */
#include "command.h"
#include "launch.h"
#include "trust.h"

#include <gess/draws.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *directory;
    struct evidence_arguments evidence;
};

/* The run in a directory with the model that its config.json names. */
static int open_and_compute(gess_evidence **evidence, const char *specification, gess_options *options,
                            const char *directory, const gess_evidence_settings *settings, gess_error *err)
{
    char threads[32], device[256];
    gess_model *model = NULL;
    gess_run *run = NULL;
    snprintf(threads, sizeof threads, "%u", settings->threads);
    TRY(gess_options_set(options, "max-time", "0", err));
    /* only a density that runs nowhere else needs the GPU of the run */
    TRY(gess_options_get(options, "device", device, sizeof device, err));
    if (strcmp(device, "cpu") != 0) TRY(gess_options_set(options, "device", "auto", err));
    if (settings->threads > 0) TRY(gess_options_set(options, "threads", threads, err));
    TRY(gess_options_set_comm(options, launch_comm(), err));
    TRY(begin_supervised(specification, options, directory, err));
    int status = open_model(&model, specification, options, err);
    if (status == GESS_OK) status = gess_run_resume(&run, model, options, directory, err);
    if (status == GESS_OK) status = gess_evidence_new(evidence, run, settings, sizeof *settings, err);
    gess_run_free(run);
    gess_model_free(model);
    return status;
}

int open_evidence(gess_evidence **evidence, const char *directory, const struct evidence_arguments *a,
                  gess_evidence_result *result, gess_error *err)
{
    char path[4096], model[4096] = "", differences[1024];
    gess_options *options = NULL;
    snprintf(path, sizeof path, "%s/config.json", directory);
    int status = gess_options_read(&options, path, model, sizeof model, err);
    if (status == GESS_OK) status = gess_config_check(path, differences, sizeof differences, err);
    if (status == GESS_OK) status = check_trust_of_run(model, directory, a->trusted, 1, err);
    if (status == GESS_OK) status = open_and_compute(evidence, model, options, directory, &a->settings, err);
    gess_options_free(options);
    TRY(status);
    return *evidence != NULL ? gess_evidence_info(*evidence, result, sizeof *result, err) : GESS_OK;
}

/* Sets a field from a number; false if it is none for it. */
static bool set_field(int key, const char *argument, gess_evidence_settings *settings)
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

bool take_evidence_option(int key, const char *argument, struct argp_state *state, struct evidence_arguments *a)
{
    if (key == 'j') a->json = 1;
    if (key == 'T') a->trusted = 1;
    if (key == 'j' || key == 'T') return true;
    if (key != 't' && key != 'e' && key != 'm') return false;
    if (!set_field(key, argument, &a->settings))
        USAGE(state, "`%s` is not a positive number%s", argument, key == 'e' ? "" : " without fractions");
    return true;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (take_evidence_option(key, argument, state, &a->evidence)) return 0;
    return take_one(key, argument, state, &a->directory, WHICH_RUN);
}

static int compute_and_print(void *data, gess_error *err)
{
    const struct arguments *a = data;
    gess_evidence *evidence = NULL;
    gess_evidence_result result = {0};
    char *text = NULL;
    int status = open_evidence(&evidence, a->directory, &a->evidence, &result, err);
    if (evidence == NULL) return status; /* an error, or a rank above 0 */
    if (status == GESS_OK)
        status = gess_evidence_text(evidence, a->evidence.json ? GESS_FORMAT_JSON : GESS_FORMAT_TEXT, &text, err);
    if (status == GESS_OK) status = print_text(text, err);
    if (status == GESS_OK) status = finish_output(err);
    if (status == GESS_OK && result.refused) status = GESS_ERR_NOT_CONVERGED;
    gess_evidence_free(evidence);
    return status;
}

int command_evidence(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {EVIDENCE_OPTIONS, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = take,
        .args_doc = "DIR",
        .doc =
            "Prints the log of the integral of the density that the run in DIR has sampled, from some thousand fresh "
            "draws of the approximation and, if that is not close enough, the run's draws, with a standard error and a "
            "second estimate. Exit status 0: done, 6: refused, with the reasons."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    return gess_comm_call(launch_comm(), compute_and_print, &a, err);
}
