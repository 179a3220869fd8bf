/* `gess resume`: continues a run from its last checkpoint. */
#include "command.h"
#include "crash.h"
#include "launch.h"
#include "trust.h"

#include <unistd.h>

struct arguments {
    const char *directory, *threads, *device, *draws, *max_time, *on_crash, *eval_timeout, *worker_memory;
    int quiet, trusted, isolate;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 't': a->threads = argument; return 0;
    case 'd': a->draws = argument; return 0;
    case 'm': a->max_time = argument; return 0;
    case 'i': a->isolate = 1; return 0;
    case 'D': a->device = argument; return 0;
    case 'c': a->on_crash = argument; return 0;
    case 'e': a->eval_timeout = argument; return 0;
    case 'w': a->worker_memory = argument; return 0;
    case 'q': a->quiet = 1; return 0;
    case 'T': a->trusted = 1; return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

static int file_of(const char *directory, const char *file, char *path, size_t size, gess_error *err)
{
    int length = snprintf(path, size, "%s/%s", directory, file);
    if (length > 0 && (size_t)length < size) return GESS_OK;
    return fail(err, GESS_ERR_USAGE, "the path of the run directory is too long: %.200s…", directory);
}

/* Whether the run has all its draws and its summary. */
static bool is_complete(const gess_run *run, const char *directory)
{
    char path[4096];
    gess_error none;
    gess_stats stats;
    return gess_run_stats(run, &stats, sizeof stats, NULL) == GESS_OK && stats.finished &&
           file_of(directory, "summary.json", path, sizeof path, &none) == GESS_OK && access(path, F_OK) == 0;
}

/* Draws may differ in their last bits if the version, the build or the machine has changed. */
static void warn_of_differences(const char *differences)
{
    if (differences[0] == '\0' || launch_rank() > 0) return;
    fprintf(stderr,
            "gess: warning: this run began with another version, build or machine (%s); its further draws may differ "
            "from those of an uninterrupted run\n",
            differences);
}

/* The options of this session: a time limit counts for one session. */
static int change_options(const struct arguments *a, gess_options *options, gess_error *err)
{
    TRY(gess_options_set_comm(options, launch_comm(), err));
    TRY(gess_options_set(options, "max-time", a->max_time != NULL ? a->max_time : "0", err));
    if (a->threads != NULL) TRY(gess_options_set(options, "threads", a->threads, err));
    if (a->device != NULL) TRY(gess_options_set(options, "device", a->device, err));
    if (a->isolate) TRY(gess_options_set(options, "isolate", "1", err));
    if (a->on_crash != NULL) TRY(gess_options_set(options, "on-crash", a->on_crash, err));
    if (a->eval_timeout != NULL) TRY(gess_options_set(options, "eval-timeout", a->eval_timeout, err));
    if (a->worker_memory != NULL) TRY(gess_options_set(options, "worker-memory", a->worker_memory, err));
    return a->draws != NULL ? gess_options_set(options, "draws", a->draws, err) : GESS_OK;
}

static int resume(const struct arguments *a, gess_options *options, const char *specification, const char *differences,
                  gess_error *err)
{
    gess_model *model = NULL;
    gess_run *run = NULL;
    TRY(change_options(a, options, err));
    TRY(begin_supervised(specification, options, a->directory, err));
    int status = open_model(&model, specification, options, err);
    if (status == GESS_OK) status = gess_run_resume(&run, model, options, a->directory, err);
    if (status == GESS_OK) warn_of_differences(differences);
    if (status == GESS_OK && launch_rank() == 0 && is_complete(run, a->directory)) {
        if (!a->quiet) printf("%s is complete; there is nothing to do (for more draws: --draws N)\n", a->directory);
        status = finish_output(err);
    } else if (status == GESS_OK) {
        status = run_and_report(run, options, a->directory, a->quiet, err);
    }
    status = explain_lost(status, specification, options, a->directory, err);
    gess_run_free(run);
    gess_model_free(model);
    return status;
}

static int read_and_resume(void *data, gess_error *err)
{
    const struct arguments *a = data;
    char path[4096], model[4096], differences[1024];
    gess_options *options = NULL;
    TRY(file_of(a->directory, "config.json", path, sizeof path, err));
    if (access(path, F_OK) != 0)
        return fail(err, GESS_ERR_USAGE, "there is no run in %s: it has no config.json", a->directory);
    TRY(gess_options_read(&options, path, model, sizeof model, err));
    int status = gess_config_check(path, differences, sizeof differences, err);
    if (status == GESS_OK) status = check_trust_of_run(model, a->directory, a->trusted, a->quiet, err);
    if (status == GESS_OK) status = resume(a, options, model, differences, err);
    gess_options_free(options);
    return status;
}

int command_resume(int argc, char **argv, gess_error *err)
{
    static const struct argp_option rows[] =
        {{"threads", 't', "N", 0, "threads (default: as before)", 0},
         {"draws", 'd', "N", 0, "draws per chain, to extend a run", 0},
         {"max-time", 'm', "T", 0, "stop again after this time", 0},
         {"device", 'D', "DEVICE", 0, "cpu, cuda[:N] or auto (default: as before)", 0},
         {"isolate", 'i', NULL, 0, "evaluate the density in worker processes", 0},
         {"on-crash", 'c', "RULE", 0, "auto, stop, outside or retry, with --isolate and for programs", 0},
         {"eval-timeout", 'e', "T", 0, "of a point, with --isolate and for programs", 0},
         {"worker-memory", 'w', "MIB", 0, "replace workers that grow by more", 0},
         {"quiet", 'q', NULL, 0, "show no progress and no summary", 0},
         {"trust-model", 'T', NULL, 0, "run the plug-in of another user's run", 0},
         {0}};
    static const struct argp argp =
        {.options = rows,
         .parser = take,
         .args_doc = "DIR",
         .doc = "Continues the run in DIR from its last checkpoint. The draws are those of a run that was never "
                "interrupted, bit for bit."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    return gess_comm_call(launch_comm(), read_and_resume, &a, err);
}
