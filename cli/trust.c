/* Loading a plug-in or a source file runs its code, and a model `exec:COMMAND` is code. A config.json from elsewhere
 * may name any: it is shown first, and a plug-in that is not beside the file, or a command, needs the user's word. */
#include "trust.h"

#include "command.h"
#include "launch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_command(const char *model)
{
    return strncmp(model, "exec:", 5) == 0;
}

static int is_source(const char *model)
{
    size_t length = strlen(model);
    return !is_command(model) && length > 3 && strcmp(model + length - 3, ".cu") == 0;
}

static const char *kind_of(const char *model)
{
    return is_command(model) ? "command" : is_source(model) ? "source file" : "plug-in";
}

/* As gess_model_open() has it: a slash, and no colon in front of that; or a command, or a source file. */
static int is_plugin(const char *model)
{
    const char *slash = strchr(model, '/'), *colon = strchr(model, ':');
    return is_command(model) || is_source(model) || (slash != NULL && (colon == NULL || slash < colon));
}

/* Whether a path is in the folder of a file, or below, once all links are followed. */
static int is_beside(const char *path, const char *file)
{
    char real[PATH_MAX], folder[PATH_MAX];
    if (realpath(path, real) == NULL || realpath(file, folder) == NULL) return 0;
    char *slash = strrchr(folder, '/');
    slash[1] = '\0';
    return strncmp(real, folder, strlen(folder)) == 0;
}

static void show(const char *model, const char *file, int quiet)
{
    if (!quiet && launch_rank() == 0)
        fprintf(stderr, "gess: the model is the %s %s, which %s names\n", kind_of(model), model, file);
}

int check_trust(const char *model, const char *file, int trusted, int quiet, gess_error *err)
{
    if (!is_plugin(model)) return GESS_OK;
    show(model, file, quiet);
    if (trusted || (!is_command(model) && is_beside(model, file))) return GESS_OK;
    if (is_command(model))
        return fail(err, GESS_ERR_USAGE,
                    "%s names a command as its model, %s; to run it, give that model on the command line, or "
                    "--trust-model",
                    file, model);
    return fail(err, GESS_ERR_USAGE,
                "%s names the %s %s, which is not in its folder; to run that code, give the path of the model on "
                "the command line, or --trust-model",
                file, kind_of(model), model);
}

int check_trust_of_run(const char *model, const char *directory, int trusted, int quiet, gess_error *err)
{
    char file[PATH_MAX];
    struct stat about;
    if (!is_plugin(model)) return GESS_OK;
    snprintf(file, sizeof file, "%s/config.json", directory);
    if (stat(file, &about) == 0 && (about.st_uid == geteuid() || about.st_uid == 0)) trusted = 1;
    return check_trust(model, file, trusted, quiet, err);
}

int check_trust_of_directory(const char *directory, int trusted, gess_error *err)
{
    char path[PATH_MAX], model[4096] = "";
    gess_options *options = NULL;
    snprintf(path, sizeof path, "%s/config.json", directory);
    int status = gess_options_read(&options, path, model, sizeof model, err);
    gess_options_free(options);
    return status == GESS_OK ? check_trust_of_run(model, directory, trusted, 1, err) : status;
}
