/* Plots, drawn by gnuplot in a child process. */
#include "reproduce/reproduce.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int gess__plot_begin(gess__plot *plot, unsigned width, unsigned height, gess_error *err)
{
    *plot = (gess__plot){.width = width, .height = height};
    plot->script = open_memstream(&plot->text, &plot->size);
    if (plot->script == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a plot");
    fputs("# A script for gnuplot 5, with its data.\n"
          "set encoding utf8\nset tics nomirror textcolor rgb '#1b2430'\nset border 3 lc rgb '#8a94a3'\n"
          "set grid y lc rgb '#e3e7ed' lt 1\nset key noautotitle\nset datafile missing 'nan'\n",
          plot->script);
    return GESS_OK;
}

void gess__plot_drop(gess__plot *plot)
{
    if (plot->script != NULL) fclose(plot->script);
    free(plot->text);
    *plot = (gess__plot){0};
}

void gess__plot_quote(FILE *script, const char *text)
{
    fputc('"', script);
    for (; *text != '\0'; text++) {
        if (strchr("\"\\`", *text) != NULL) fputc('\\', script);
        fputc(*text, script);
    }
    fputc('"', script);
}

static void put_text(FILE *out, const void *what)
{
    const gess__plot *plot = what;
    fwrite(plot->text, 1, plot->size, out);
}

/* Runs a program to its end. Returns its status, or -1 and errno if it cannot be started. */
static int run_program(char *const argv[])
{
    pid_t child;
    int code = 0;
    sigset_t none;
    posix_spawnattr_t attributes;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int fault = posix_spawnp(&child, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (fault != 0) {
        errno = fault;
        return -1;
    }
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128;
}

int gess__plot_found(void)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (size_t length; path != NULL && *path != '\0'; path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        int used = snprintf(file, sizeof file, "%.*s/gnuplot", (int)length, path);
        if (used < (int)sizeof file && access(file, X_OK) == 0) return 1;
    }
    return 0;
}

static int draw(const gess__plot *plot, const gess__reproduction *r, const char *file, const char *kind,
                const char *terminal, gess_error *err)
{
    char head[8400], script[4200];
    snprintf(head, sizeof head, "set terminal %s size %u,%u background rgb 'white'; set output \"%s/%s.%s\"", terminal,
             plot->width, plot->height, r->directory, file, kind);
    snprintf(script, sizeof script, "%s/%s.gp", r->directory, file);
    char program[] = "gnuplot", option[] = "-e";
    char *const argv[] = {program, option, head, script, NULL};
    int code = run_program(argv);
    if (code < 0) return gess__fail(err, GESS_ERR_FILE, "cannot run gnuplot: %s", strerror(errno));
    if (code != 0) return gess__fail(err, GESS_ERR_INTERNAL, "gnuplot failed with status %d on %s", code, script);
    return GESS_OK;
}

int gess__plot_end(gess__plot *plot, const gess__reproduction *r, json_t *page, const char *file, const char *caption,
                   gess_error *err)
{
    char name[128];
    fflush(plot->script);
    snprintf(name, sizeof name, "%s.gp", file);
    if (r->verify) {
        gess__plot_drop(plot);
        return GESS_OK;
    }
    int found = gess__plot_found(), status = gess__store_file(r, name, put_text, plot, err);
    if (status == GESS_OK && strpbrk(r->directory, "\"\\`$") != NULL)
        status = gess__fail(err, GESS_ERR_USAGE, "gnuplot cannot write to a folder of this name: %s", r->directory);
    if (status == GESS_OK && found) status = draw(plot, r, file, "svg", "svg enhanced font 'sans,13'", err);
    if (status == GESS_OK && found) status = draw(plot, r, file, "png", "pngcairo enhanced font 'sans,10'", err);
    if (status == GESS_OK && found)
        json_array_append_new(json_object_get(page, "plots"),
                              json_pack("{s:s, s:s}", "file", file, "caption", caption));
    if (status == GESS_OK && !found)
        gess__page_text(page, "notes", "%s.gp was not drawn: gnuplot is not installed. %s", file, caption);
    gess__plot_drop(plot);
    return status;
}
