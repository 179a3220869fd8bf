/* Runs emcee and zeus: bench/peers/peers.py in a child process, which hands its draws over in a numpy file. */
#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder of the running command. */
static void command_folder(char folder[512])
{
    ssize_t length = readlink("/proc/self/exe", folder, 511);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) *slash = '\0';
}

int gess__peers_found(char *python)
{
    char beside[512];
    const char *folder = getenv("GESS_PEERS");
    command_folder(beside);
    if (folder != NULL && folder[0] != '\0')
        snprintf(python, 1024, "%s/bin/python", folder);
    else
        snprintf(python, 1024, "%s/peers/bin/python", beside);
    return access(python, X_OK) == 0;
}

int gess__bench_samplers(const gess__bench_options *options, gess__bench_list *samplers, gess_error *err)
{
    char python[1024];
    int found = gess__peers_found(python);
    const char *names = options->samplers;
    if (names == NULL) names = found ? "gess,emcee,zeus" : "gess";
    GESS_TRY(gess__bench_split(names, samplers, err));
    for (size_t i = 0; i < samplers->count; i++) {
        const char *name = samplers->item[i];
        if (strcmp(name, "gess") == 0) continue;
        if (strcmp(name, "emcee") != 0 && strcmp(name, "zeus") != 0)
            return gess__fail(err, GESS_ERR_USAGE, "bench: no sampler `%s`; there are gess, emcee and zeus", name);
        if (!found)
            return gess__fail(err, GESS_ERR_FILE,
                              "bench: %s needs the virtual environment of the peers, and there is no %s; "
                              "`make peers` makes it, GESS_PEERS=FOLDER names another",
                              name, python);
    }
    return GESS_OK;
}

int gess__bench_lists(const gess__bench_options *options, gess__bench_list *models, gess__bench_list *samplers,
                      gess_error *err)
{
    const char *usual = options->quick ? "gaussian,mixture" : GESS__BENCH_MODELS;
    GESS_TRY(gess__bench_split(options->models != NULL ? options->models : usual, models, err));
    return gess__bench_samplers(options, samplers, err);
}

static int find_library(char *path, size_t size, gess_error *err)
{
    char beside[512];
    command_folder(beside);
    snprintf(path, size, "%s/libgess.so", beside);
    if (access(path, R_OK) != 0) snprintf(path, size, "%s/../lib/libgess.so", beside);
    if (access(path, R_OK) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "bench: cannot find libgess.so beside this program");
}

/* Runs a program and reads one JSON object from its standard output. */
static int run_json(char *const argv[], json_t **root, gess_error *err)
{
    int ends[2], code = 0;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0) return gess__fail(err, GESS_ERR_INTERNAL, "bench: pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int fault = posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (fault != 0) {
        close(ends[0]);
        return gess__fail(err, GESS_ERR_FILE, "bench: cannot run %s: %s", argv[0], strerror(fault));
    }
    FILE *stream = fdopen(ends[0], "r");
    *root = stream != NULL ? json_loadf(stream, 0, NULL) : NULL;
    if (stream != NULL)
        fclose(stream);
    else
        close(ends[0]);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
    }
    if (*root != NULL && WIFEXITED(code) && WEXITSTATUS(code) == 0) return GESS_OK;
    json_decref(*root);
    *root = NULL;
    return gess__fail(err, GESS_ERR_INTERNAL, "bench: %s %s failed; its messages are above", argv[0], argv[1]);
}

/* Maps a numpy file (format 1.0, float64, C order) of `count` numbers. */
static int map_file(const char *path, size_t count, gess__sampled *out, gess_error *err)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return gess__fail(err, GESS_ERR_FILE, "%s: %s", path, strerror(errno));
    void *mapped = MAP_FAILED;
    if (fstat(file, &about) == 0 && about.st_size > 10)
        mapped = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return gess__fail(err, GESS_ERR_FILE, "%s: cannot be read", path);
    out->mapped = mapped;
    out->mapped_size = (size_t)about.st_size;
    const unsigned char *head = mapped;
    size_t skip = 10 + (size_t)head[8] + 256 * (size_t)head[9];
    if (memcmp(head, "\x93NUMPY\x01", 7) != 0 || out->mapped_size != skip + count * sizeof(double) ||
        memmem(head, skip, "'<f8'", 5) == NULL || memmem(head, skip, "False", 5) == NULL)
        return gess__fail(err, GESS_ERR_FILE, "%s: not the %zu numbers that were expected", path, count);
    out->values = (const double *)(const void *)(head + skip);
    return GESS_OK;
}

static uint64_t count_of(const json_t *root, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(root, key));
}

static void take_figures(const json_t *root, gess__sampled *out)
{
    const char *fault = json_string_value(json_object_get(root, "error"));
    const char *version = json_string_value(json_object_get(root, "version"));
    out->dim = (size_t)count_of(root, "dim");
    out->chains = (size_t)count_of(root, "walkers");
    out->evals_warmup = count_of(root, "evals_warmup");
    out->evals_sampling = count_of(root, "evals_sampling");
    out->seconds = json_number_value(json_object_get(root, "seconds"));
    out->seconds_sampling = json_number_value(json_object_get(root, "seconds_sampling"));
    out->seconds_outside = json_number_value(json_object_get(root, "seconds_outside"));
    out->seconds_cpu = json_number_value(json_object_get(root, "seconds_cpu"));
    snprintf(out->fault, sizeof out->fault, "%s", fault != NULL ? fault : "");
    snprintf(out->version, sizeof out->version, "%s", version != NULL ? version : "");
}

/* Runs a peer. The file `path` gets its draws or, if there is a file of centres, its means. */
static int run_peer(const char *sampler, const char *model, uint64_t seed, uint64_t warmup, uint64_t evals,
                    char *centre, char *path, json_t **root, gess_error *err)
{
    char python[1024], script[1024], library[1024], name[16], specification[GESS__BENCH_ITEM], numbers[3][32];
    if (!gess__peers_found(python)) return gess__fail(err, GESS_ERR_FILE, "bench: there is no %s", python);
    GESS_TRY(gess__bench_file("peers/peers.py", script, sizeof script, err));
    GESS_TRY(find_library(library, sizeof library, err));
    snprintf(name, sizeof name, "%s", sampler);
    snprintf(specification, sizeof specification, "%s", model);
    snprintf(numbers[0], sizeof *numbers, "%llu", (unsigned long long)seed);
    snprintf(numbers[1], sizeof *numbers, "%llu", (unsigned long long)warmup);
    snprintf(numbers[2], sizeof *numbers, "%llu", (unsigned long long)evals);
    char *const argv[] = {python,        script,
                          name,          "--library",
                          library,       "--model",
                          specification, "--seed",
                          numbers[0],    "--warmup",
                          numbers[1],    "--evals",
                          numbers[2],    centre != NULL ? "--means" : "--draws",
                          path,          centre != NULL ? "--centre" : NULL,
                          centre,        NULL};
    return run_json(argv, root, err);
}

/* Creates an empty file in the folder for temporary files. */
static int temporary(char path[1024], gess_error *err)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, 1024, "%s/gess-peer-XXXXXX.npy", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    int file = mkostemps(path, 4, O_CLOEXEC);
    if (file < 0) return gess__fail(err, GESS_ERR_FILE, "%s: %s", path, strerror(errno));
    close(file);
    return GESS_OK;
}

int gess__sample_peer(const char *sampler, const char *model, uint64_t seed, uint64_t warmup, uint64_t evals,
                      gess__sampled *out, gess_error *err)
{
    char path[1024];
    json_t *root = NULL;
    *out = (gess__sampled){0};
    GESS_TRY(temporary(path, err));
    int status = run_peer(sampler, model, seed, warmup, evals, NULL, path, &root, err);
    if (status == GESS_OK) {
        take_figures(root, out);
        out->draws = out->held = count_of(root, "draws");
        if (out->draws > 0) status = map_file(path, out->dim * out->chains * (size_t)out->draws, out, err);
    }
    unlink(path);
    json_decref(root);
    return status;
}

static int write_centre(const char *path, size_t dim, const double *centre, gess_error *err)
{
    FILE *out = fopen(path, "we");
    if (out == NULL) return gess__fail(err, GESS_ERR_FILE, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < dim; i++) fprintf(out, "%.17g\n", centre[i]);
    int bad = ferror(out);
    if (fclose(out) != 0 || bad) return gess__fail(err, GESS_ERR_FILE, "%s: cannot be written", path);
    return GESS_OK;
}

int gess__peer_means(const char *sampler, const char *model, uint64_t seed, uint64_t evals, size_t dim,
                     const double *centre, gess__sampled *out, gess_error *err)
{
    char path[1024], centres[1024] = "";
    json_t *root = NULL;
    *out = (gess__sampled){0};
    GESS_TRY(temporary(path, err));
    int status = temporary(centres, err);
    if (status == GESS_OK) status = write_centre(centres, dim, centre, err);
    if (status == GESS_OK) status = run_peer(sampler, model, seed, 0, evals, centres, path, &root, err);
    if (status == GESS_OK) {
        take_figures(root, out);
        out->draws = count_of(root, "iterations");
        if (out->draws > 0) status = map_file(path, (1 + 2 * out->dim) * (size_t)out->draws, out, err);
    }
    unlink(path);
    unlink(centres);
    json_decref(root);
    return status;
}
