/* `gess resume`: continues a run from its last checkpoint. */
#include "command.h"
#include "launch.h"
#include "run/checkpoint.h"
#include "run/config.h"
#include "run/directory.h"
#include "run/run.h"

#include <string.h>
#include <unistd.h>

struct arguments {
    const char *directory, *threads, *draws, *max_time;
    int quiet;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 't': a->threads = argument; return 0;
    case 'd': a->draws = argument; return 0;
    case 'm': a->max_time = argument; return 0;
    case 'q': a->quiet = 1; return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

/* Writes the new number of draws to config.json, with the other options as they were stored, so that a run that is
 * extended and stopped again knows how far to go. */
static int store_draws(gess_run *run, gess_options stored, const char *draws, gess_error *err)
{
    gess_options session = run->options;
    GESS_TRY(gess_options_set(&stored, "draws", draws, err));
    run->options = stored;
    int status = gess__config_write(run, err);
    run->options = session;
    return status;
}

static int has_summary(const char *directory)
{
    char path[4096];
    return gess__directory_path(directory, "summary.json", path, sizeof path, NULL) == GESS_OK &&
           access(path, F_OK) == 0;
}

/* Draws may differ in their last bits if the version, the build or the machine has changed. */
static void warn_of_differences(json_t *config)
{
    char differs[1024];
    if (gess__config_differs(config, differs, sizeof differs) && launch_rank() == 0)
        fprintf(stderr,
                "gess: warning: this run began with another version, build or machine (%s); its further draws may "
                "differ "
                "from those of an uninterrupted run\n",
                differs);
}

static int resume(const struct arguments *a, gess_options *options, const char *specification, json_t *config,
                  gess_error *err)
{
    gess_options stored = *options;
    gess_model *model = NULL;
    gess_run *run = NULL;
    /* a time limit counts for one session */
    options->max_time = 0.0;
    options->comm = launch_comm();
    if (a->threads != NULL) GESS_TRY(gess_options_set(options, "threads", a->threads, err));
    if (a->draws != NULL) GESS_TRY(gess_options_set(options, "draws", a->draws, err));
    if (a->max_time != NULL) GESS_TRY(gess_options_set(options, "max-time", a->max_time, err));
    int status = gess_model_open(&model, specification, options->data, err);
    if (status == GESS_OK && (launch_rank() > 0 || gess__checkpoint_exists(a->directory))) {
        status = gess_run_resume(&run, model, options, a->directory, err);
        if (status == GESS_OK && a->draws != NULL && launch_rank() == 0)
            status = store_draws(run, stored, a->draws, err);
    } else if (status == GESS_OK) {
        /* it was killed before its first checkpoint: start again from config.json */
        options->overwrite = 1;
        status = gess_run_new(&run, model, options, a->directory, err);
    }
    if (status == GESS_OK) warn_of_differences(config);
    if (status == GESS_OK && launch_rank() == 0 && run->finished && has_summary(a->directory)) {
        if (!a->quiet) printf("%s is complete; there is nothing to do (for more draws: --draws N)\n", a->directory);
        status = finish_output(err);
    } else if (status == GESS_OK) {
        status = run_and_report(run, options, a->quiet, err);
    }
    gess_run_free(run);
    gess_model_free(model);
    return status;
}

static int read_and_resume(void *data, gess_error *err)
{
    const struct arguments *a = data;
    char path[4096];
    gess_options options;
    const char *model = NULL;
    json_t *keep = NULL;
    gess__options_init(&options);
    GESS_TRY(gess__directory_path(a->directory, "config.json", path, sizeof path, err));
    if (access(path, F_OK) != 0)
        return gess__fail(err, GESS_ERR_USAGE, "there is no run in %s: it has no config.json", a->directory);
    int status = gess__config_read(path, &options, &model, &keep, err);
    if (status == GESS_OK) status = gess__config_verify(path, keep, err);
    if (status == GESS_OK) status = resume(a, &options, model, keep, err);
    json_decref(keep);
    return status;
}

int command_resume(int argc, char **argv, gess_error *err)
{
    static const struct argp_option rows[] = {{"threads", 't', "N", 0, "threads (default: as before)", 0},
                                              {"draws", 'd', "N", 0, "draws per chain, to extend a run", 0},
                                              {"max-time", 'm', "T", 0, "stop again after this time", 0},
                                              {"quiet", 'q', NULL, 0, "show no progress and no summary", 0},
                                              {0}};
    static const struct argp argp =
        {.options = rows,
         .parser = take,
         .args_doc = "DIR",
         .doc = "Continues the run in DIR from its last checkpoint. The draws are those of a run that was never "
                "interrupted, bit for bit."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    return launch_with_comm_thread(read_and_resume, &a, err);
}
