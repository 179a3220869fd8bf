/* Compiles a CUDA source file for the processor: writes the headers that it needs, which the library carries, into a
 * folder of its own, has the machine's C++ compiler make a shared object there, loads that, and removes the folder.
 *
 * The options keep the arithmetic as written, as for the GPU: nothing is contracted, and no option of -ffast-math but
 * two that change no value. */
#include "model/cuda_file.h"

#include "base/cpu.h"
#include "base/mem.h"
#include "model/cuda_texts.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Says why through the exit status: 127, there is no compiler. $0: the folder. */
static const char script[] =
    "if [ -z \"$CXX\" ]; then for c in c++ g++ clang++; do command -v $c >/dev/null 2>&1 && CXX=$c && break; done; fi\n"
    "[ -n \"$CXX\" ] || exit 127\n"
    "exec $CXX -std=c++17 -O2 -w -fPIC -shared -ffp-contract=off -fno-math-errno -fno-trapping-math "
    "-fvisibility=hidden \"$@\" -I\"$0\" -I. -o \"$0/model.so\" \"$0/model.cc\" -lm";

static const struct {
    const char *name, *text;
} files[] = {{"gess/gess_cuda.h", (const char *)cuda_gess_cuda_h},
             {"base/vmath.h", (const char *)cuda_vmath_h},
             {"base/cpu.h", (const char *)cuda_cpu_h},
             {"model/cuda_point.h", (const char *)cuda_cuda_point_h},
             {"model.cc", (const char *)cuda_cuda_host_cc}};

static const char *const folders[] = {"gess", "base", "model"};
static const char *const products[] = {"model.so", "log"};

enum { FILES = sizeof files / sizeof *files, FOLDERS = sizeof folders / sizeof *folders, LOG = 700 };

typedef struct build {
    char folder[PATH_MAX], path[PATH_MAX + 64];
} build;

static const char *in_folder(build *b, const char *name)
{
    snprintf(b->path, sizeof b->path, "%s/%s", b->folder, name);
    return b->path;
}

static int write_files(build *b, gess_error *err)
{
    for (size_t i = 0; i < FOLDERS; i++)
        if (mkdir(in_folder(b, folders[i]), 0700) != 0)
            return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %.500s: %s", b->path, strerror(errno));
    for (size_t i = 0; i < FILES; i++) {
        FILE *file = fopen(in_folder(b, files[i].name), "w");
        bool bad = file == NULL || fputs(files[i].text, file) < 0;
        if (file != NULL && fclose(file) != 0) bad = true;
        if (bad) return gess__fail(err, GESS_ERR_FILE, "cannot write %.500s: %s", b->path, strerror(errno));
    }
    return GESS_OK;
}

static void remove_folder(build *b)
{
    for (size_t i = 0; i < FILES; i++) unlink(in_folder(b, files[i].name));
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) unlink(in_folder(b, products[i]));
    for (size_t i = 0; i < FOLDERS; i++) rmdir(in_folder(b, folders[i]));
    rmdir(b->folder);
}

/* The text of a C string literal with the name of a file, as a -D option; false if it cannot be one. */
static bool define_source(const char *path, char *text, size_t size)
{
    return strpbrk(path, "\"\\\n") == NULL && (size_t)snprintf(text, size, "-DGESS__SOURCE=\"%s\"", path) < size;
}

/* Runs the compiler, with what it says in the file `log`; its exit status, or -1. */
static int run_compiler(build *b, const char *source, bool derived)
{
    const char *arguments[12] = {"sh", "-c", script, b->folder, source};
    char log[PATH_MAX + 64];
    size_t n = 5;
    if (derived) arguments[n++] = "-DGESS__DERIVED";
    if (gess__machine_vectors != GESS__NO_VECTORS) {
        arguments[n++] = "-mavx2";
        arguments[n++] = "-mfma";
    }
    arguments[n] = NULL;
    snprintf(log, sizeof log, "%s", in_folder(b, "log"));
    char *list[sizeof arguments / sizeof *arguments];
    memcpy(list, arguments, sizeof list); /* posix_spawn() does not write to them */
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1, code;
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    code = posix_spawn(&child, "/bin/sh", &actions, NULL, list, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The compiler's words from the first error on, as much as fits into a message. */
static void read_log(build *b, char text[LOG])
{
    char all[1 << 14];
    FILE *file = fopen(in_folder(b, "log"), "r");
    size_t got = file != NULL ? fread(all, 1, sizeof all - 1, file) : 0;
    if (file != NULL) fclose(file);
    all[got] = '\0';
    const char *from = strstr(all, "error:");
    while (from != NULL && from > all && from[-1] != '\n') from--;
    if (from == NULL) from = all;
    if (strncmp(from, "./", 2) == 0) from += 2; /* of -I. */
    snprintf(text, LOG, "%.*s", LOG - 1, from);
    for (size_t end = strlen(text); end > 0 && text[end - 1] == '\n';) text[--end] = '\0';
}

static int compile(build *b, const char *path, bool derived, bool *found, gess_error *err)
{
    char source[PATH_MAX + 32], words[LOG];
    if (!define_source(path, source, sizeof source))
        return gess__fail(err, GESS_ERR_MODEL, "the model %.500s: quotes and backslashes may not be in its path", path);
    GESS_TRY(write_files(b, err));
    int status = run_compiler(b, source, derived);
    if (status == 0) return GESS_OK;
    *found = status != 127 && status >= 0;
    if (!*found)
        return gess__fail(err, GESS_ERR_MODEL,
                          "the model %.500s needs a C++ compiler, which is not found: install g++ or clang++, or name "
                          "one "
                          "in the environment variable CXX",
                          path);
    read_log(b, words);
    return gess__fail(err, GESS_ERR_MODEL, "the model %.200s cannot be compiled for the processor:\n%s", path, words);
}

static int load(gess__cuda_host *host, build *b, const char *path, bool derived, gess_error *err)
{
    host->library = dlopen(in_folder(b, "model.so"), RTLD_NOW | RTLD_LOCAL);
    if (host->library == NULL) {
        const char *why = dlerror();
        return gess__fail(err, GESS_ERR_MODEL, "cannot load what was compiled of the model %.300s: %.500s", path,
                          why != NULL ? why : "no reason given");
    }
    void *density = dlsym(host->library, "gess__cuda_logp"), *more = dlsym(host->library, "gess__cuda_derived");
    if (density == NULL || (derived && more == NULL))
        return gess__fail(err, GESS_ERR_INTERNAL, "what was compiled of the model %.300s lacks its functions", path);
    memcpy(&host->logp, &density, sizeof density);
    memcpy(&host->derived, &more, sizeof more);
    return GESS_OK;
}

int gess__cuda_host_open(gess__cuda_host *host, const char *path, bool derived, bool *found, gess_error *err)
{
    *found = true;
    const char *top = getenv("TMPDIR");
    build *b = NULL;
    int status = gess__alloc_bytes(&b, 1, sizeof *b, "build", err);
    if (status != GESS_OK) return status;
    if (top == NULL || *top != '/' || strlen(top) > PATH_MAX - 64) top = "/tmp";
    snprintf(b->folder, sizeof b->folder, "%s/gess-XXXXXX", top);
    if (mkdtemp(b->folder) == NULL) {
        status = gess__fail(err, GESS_ERR_FILE, "cannot make a folder in %.500s (TMPDIR): %s", top, strerror(errno));
        free(b);
        return status;
    }
    status = compile(b, path, derived, found, err);
    if (status == GESS_OK) status = load(host, b, path, derived, err);
    remove_folder(b);
    free(b);
    return status;
}

void gess__cuda_host_close(gess__cuda_host *host)
{
    if (host->library != NULL) dlclose(host->library);
    host->library = NULL;
}
