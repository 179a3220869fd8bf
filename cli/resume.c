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
    case ARGP_KEY_ARG:
        if (a->directory != NULL) USAGE(state, "one run directory at a time, not `%s` as well", argument);
        a->directory = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->directory == NULL) USAGE(state, "which run? give its directory");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* A run that is extended and stopped again must know how far it was to go: the options as they were
 * stored, with the new number of draws. */
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

static int resume(const struct arguments *a, gess_options *options, const char *specification, gess_error *err)
{
    gess_options stored = *options;
    const gess_model *model = NULL;
    gess_run *run = NULL;
    /* the time limit is a session's; the file of starts has done its work */
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
        /* killed before its first sweep: config.json says all there is to know */
        options->overwrite = 1;
        status = gess_run_new(&run, model, options, a->directory, err);
    }
    if (status == GESS_OK && launch_rank() == 0 && run->finished && has_summary(a->directory)) {
        if (!a->quiet) printf("%s is complete; there is nothing to do (more draws: --draws N)\n", a->directory);
        status = finish_output(err);
    } else if (status == GESS_OK) {
        status = run_and_report(run, options, a->quiet, err);
    }
    gess_run_free(run);
    gess_model_close(model);
    return status;
}

static int read_and_resume(void *data, gess_error *err)
{
    const struct arguments *a = data;
    char path[4096];
    gess_options options;
    const char *model = NULL;
    json_t *keep = NULL;
    gess_options_init(&options);
    GESS_TRY(gess__directory_path(a->directory, "config.json", path, sizeof path, err));
    if (access(path, F_OK) != 0)
        return gess__fail(err, GESS_ERR_USAGE, "there is no run in %s: it has no config.json", a->directory);
    int status = gess__config_read(path, &options, &model, &keep, err);
    if (status == GESS_OK) status = gess__config_verify(path, keep, err);
    char differs[1024];
    if (status == GESS_OK && gess__config_differs(keep, differs, sizeof differs) && launch_rank() == 0)
        fprintf(stderr,
                "gess: warning: this run began with another build or machine (%s); its draws from here on may differ "
                "from those of a run that stayed there\n",
                differs);
    if (status == GESS_OK) status = resume(a, &options, model, err);
    json_decref(keep);
    return status;
}

int command_resume(int argc, char **argv, gess_error *err)
{
    static const struct argp_option rows[] = {{"threads", 't', "N", 0, "threads, if they are to be other than before",
                                               0},
                                              {"draws", 'd', "N", 0, "draws of each chain, to extend a run", 0},
                                              {"max-time", 'm', "T", 0, "time after which the run is stopped again", 0},
                                              {"quiet", 'q', NULL, 0, "no progress and no summary", 0},
                                              {0}};
    static const struct argp argp =
        {.options = rows,
         .parser = take,
         .args_doc = "DIR",
         .doc = "Goes on with the run in DIR from its last checkpoint. The draws are those of a run "
                "that was never interrupted, bit for bit."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    return launch_cover(read_and_resume, &a, err);
}
