/* The cells of figures: their names and files, and the child processes that compute them. */
#include "reproduce/reproduce.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the list ---- */

/* Whether r->only selects a cell. */
static int chosen(const gess__reproduction *r, const char *name)
{
    const char *rest = r->only;
    if (rest == NULL) return 1;
    for (size_t length; *rest != '\0'; rest += length + (rest[length] == ',')) {
        length = strcspn(rest, ",");
        if (length > 0 && memmem(name, strlen(name), rest, length) != NULL) return 1;
    }
    return 0;
}

/* cells/NAME-KEY.json, the key being FNV-1a of the settings as sorted JSON. */
static int name_file(gess__cell *cell, gess_error *err)
{
    char *text = json_dumps(cell->settings, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)), plain[96];
    uint64_t key = 14695981039346656037u;
    if (text == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the settings of %s", cell->name);
    for (const char *c = text; *c != '\0'; c++) key = (key ^ (unsigned char)*c) * 1099511628211u;
    free(text);
    memcpy(plain, cell->name, sizeof plain);
    for (char *c = plain; *c != '\0'; c++)
        if (strchr("/:=, ", *c) != NULL) *c = '-';
    snprintf(cell->file, sizeof cell->file, "cells/%s-%016llx.json", plain, (unsigned long long)key);
    return GESS_OK;
}

static int make_room(gess__cells *cells, gess_error *err)
{
    if (cells->count < cells->room) return GESS_OK;
    size_t room = 2 * cells->room + 64;
    gess__cell *more = realloc(cells->cell, room * sizeof *more);
    if (more == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for %zu cells", room);
    cells->cell = more;
    cells->room = room;
    return GESS_OK;
}

int gess__cells_add(gess__cells *cells, const gess__reproduction *r, const gess__figure *figure, uint64_t seed,
                    double cost, json_t *settings, gess_error *err, const char *format, ...)
{
    gess__cell cell = {.figure = figure, .settings = settings, .cost = cost};
    int used = snprintf(cell.name, sizeof cell.name, "%s/", figure->name);
    va_list args;
    va_start(args, format);
    vsnprintf(cell.name + used, sizeof cell.name - (size_t)used, format, args);
    va_end(args);
    if (settings == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the cell %s", cell.name);
    json_object_set_new(settings, "figure", json_string(figure->name));
    json_object_set_new(settings, "revision", json_integer(figure->revision));
    json_object_set_new(settings, "seed", json_integer((json_int_t)seed));
    json_object_set_new(settings, "version", json_string(r->version != NULL ? r->version : gess_version()));
    int status = chosen(r, cell.name) ? make_room(cells, err) : GESS_OK;
    if (status == GESS_OK) status = name_file(&cell, err);
    if (status != GESS_OK || !chosen(r, cell.name)) {
        json_decref(settings);
        return status;
    }
    cells->cell[cells->count++] = cell;
    return GESS_OK;
}

void gess__cells_free(gess__cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        json_decref(cells->cell[i].settings);
        json_decref(cells->cell[i].result);
    }
    free(cells->cell);
    json_decref(cells->rates);
    json_decref(cells->carried);
    *cells = (gess__cells){0};
}

/* ---- files ---- */

/* The result of {"settings", "result"}, if the settings are the cell's; NULL otherwise. */
static json_t *matching_result(const json_t *root, const gess__cell *cell)
{
    json_t *result = json_object_get(root, "result");
    return json_is_object(result) && json_equal(json_object_get(root, "settings"), cell->settings) ? json_incref(result)
                                                                                                   : NULL;
}

/* The result in a cell's file; NULL if there is no file with these settings. */
static json_t *read_result(const gess__cell *cell, const char *directory)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, cell->file) >= (int)sizeof path) return NULL;
    json_t *root = json_load_file(path, 0, NULL), *result = matching_result(root, cell);
    json_decref(root);
    return result;
}

/* Stores a cell with its result. Takes the reference of the result. */
static int store_cell(const gess__cell *cell, const gess__reproduction *r, json_t *result, gess_error *err)
{
    json_t *root = json_pack("{s:O, s:o}", "settings", cell->settings, "result", result);
    int status = gess__store_json(r, cell->file, root, err);
    json_decref(root);
    return status;
}

static size_t missing_cells(const gess__cells *cells)
{
    size_t missing = 0;
    for (size_t i = 0; i < cells->count; i++) missing += cells->cell[i].result == NULL;
    return missing;
}

/* Every cell of an archive tells how long its kind takes, also one of other settings. */
static void note_archive(gess__cells *cells, const json_t *archive)
{
    const char *file;
    const json_t *root;
    json_object_foreach((json_t *)(uintptr_t)archive, file, root)
        gess__rates_note(cells->rates, json_object_get(root, "settings"), json_object_get(root, "result"), NAN);
}

/* Takes over results from a folder or an archive. `store`: writes them into the directory. */
static int load_from(gess__cells *cells, const gess__reproduction *r, const char *source, int store, gess_error *err)
{
    char path[4096];
    size_t length = strlen(source);
    int is_file = length > 3 && strcmp(source + length - 3, ".gz") == 0, status = GESS_OK;
    json_t *archive = NULL;
    if (snprintf(path, sizeof path, "%s%s", source, is_file ? "" : "/" GESS__CELLS_ARCHIVE) >= (int)sizeof path)
        return gess__fail(err, GESS_ERR_USAGE, "the path is too long: %.200s", source);
    GESS_TRY(gess__cells_archive_load(path, &archive, err));
    if (is_file && archive == NULL) return gess__fail(err, GESS_ERR_FILE, "there is no file %s", path);
    note_archive(cells, archive);
    if (store && archive != NULL) json_object_update_missing(cells->carried, archive);
    for (size_t i = 0; status == GESS_OK && i < cells->count; i++) {
        gess__cell *cell = &cells->cell[i];
        if (cell->result != NULL) continue;
        if (!is_file) cell->result = read_result(cell, source);
        if (cell->result == NULL) cell->result = matching_result(json_object_get(archive, cell->file), cell);
        if (cell->result != NULL && store) status = store_cell(cell, r, json_incref(cell->result), err);
    }
    json_decref(archive);
    return status;
}

int gess__cells_load(gess__cells *cells, const gess__reproduction *r, gess_error *err)
{
    cells->rates = json_object();
    cells->carried = json_object();
    GESS_TRY(load_from(cells, r, r->directory, 0, err));
    for (size_t i = 0; i < r->sources; i++) {
        if (access(r->source[i], R_OK) != 0)
            return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", r->source[i], strerror(errno));
        GESS_TRY(load_from(cells, r, r->source[i], 1, err));
    }
    for (size_t i = 0; i < cells->count; i++)
        gess__rates_note(cells->rates, cells->cell[i].settings, cells->cell[i].result, cells->cell[i].cost);
    return GESS_OK;
}

/* Seconds of processor time. */
static double spent(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* In the child: computes the cell and stores it. */
static int compute(const gess__cell *cell, const gess__reproduction *r, gess_error *err)
{
    json_t *result = NULL;
    double begun = gess__seconds();
    int status = cell->figure->compute(cell->settings, &result, err);
    if (status == GESS_OK && !json_is_object(result))
        status = gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a result");
    if (status == GESS_OK) {
        struct rusage self, peers;
        getrusage(RUSAGE_SELF, &self);
        getrusage(RUSAGE_CHILDREN, &peers);
        json_object_set_new(result, "took", json_real(gess__seconds() - begun));
        json_object_set_new(result, "took_cpu", json_real(spent(&self) + spent(&peers)));
        json_object_set_new(result, "cost", json_real(cell->cost));
        json_object_set_new(result, "computed", gess__making());
        status = store_cell(cell, r, result, err);
    } else {
        json_decref(result);
    }
    return status;
}

/* ---- running cells ---- */

typedef struct job {
    pid_t child; /* 0: free */
    gess__cell *cell;
    double begun;
} job;

typedef struct runner {
    const gess__reproduction *r;
    gess__cells *cells;
    gess__cell **queue; /* by trial, then the most costly first */
    size_t queued, next, finished;
    job *jobs;
    double shown; /* clock of the last progress line */
    int terminal;
} runner;

static int by_trial(const void *a, const void *b)
{
    const gess__cell *x = *(gess__cell *const *)a, *y = *(gess__cell *const *)b;
    uint64_t xseed = gess__json_count(x->settings, "seed"), yseed = gess__json_count(y->settings, "seed");
    if (xseed != yseed) return xseed < yseed ? -1 : 1;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return (x > y) - (x < y);
}

/* The child has default signals and its own process group, and dies with its parent. */
static int start(const gess__cell *cell, const gess__reproduction *r, pid_t *child, gess_error *err)
{
    fflush(NULL);
    pid_t parent = getpid(), made = fork();
    if (made < 0)
        return gess__fail(err, GESS_ERR_INTERNAL, "cannot start a process for %s: %s", cell->name, strerror(errno));
    *child = made;
    if (made > 0) {
        setpgid(made, made);
        return GESS_OK;
    }
    setpgid(0, 0);
    if (r->lock > 0) close(r->lock); /* else the folder would stay locked until a killed run's children have ended */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(GESS_ERR_STOPPED);
    gess_error fault = {0};
    int status = compute(cell, r, &fault);
    if (status != GESS_OK) fprintf(stderr, "\ngess: %s: %s\n", cell->name, fault.text);
    fflush(NULL);
    _exit(status);
}

static void stop_all(runner *run)
{
    for (unsigned i = 0; i < run->r->jobs; i++) {
        if (run->jobs[i].child == 0) continue;
        kill(-run->jobs[i].child, SIGKILL);
        waitpid(run->jobs[i].child, NULL, 0);
        run->jobs[i].child = 0;
    }
}

/* Seconds left for the cells of which this is known. */
static double time_left(const runner *run, size_t *unknown)
{
    double left = 0.0, now = gess__seconds();
    *unknown = 0;
    for (size_t i = 0; i < run->queued; i++) {
        double seconds = gess__cell_seconds(run->cells->rates, run->queue[i], 0);
        if (run->queue[i]->result != NULL) continue;
        *unknown += isnan(seconds) ? 1 : 0;
        left += isnan(seconds) ? 0.0 : seconds;
    }
    for (unsigned i = 0; i < run->r->jobs; i++) {
        const job *j = &run->jobs[i];
        if (j->child == 0) continue;
        double seconds = gess__cell_seconds(run->cells->rates, j->cell, 0);
        if (!isnan(seconds)) left -= fmin(now - j->begun, seconds);
    }
    return left / (double)run->r->jobs;
}

static size_t done_cells(const gess__cells *cells)
{
    return cells->count - missing_cells(cells);
}

static void show(runner *run, const gess__cell *cell)
{
    size_t unknown;
    double now = gess__seconds(), left = time_left(run, &unknown);
    if (run->r->progress == NULL || now - run->shown < (run->terminal ? 0.2 : 10.0)) return;
    run->shown = now;
    fprintf(run->r->progress, "%s%zu of %zu cells, ", run->terminal ? "\r" : "", done_cells(run->cells),
            run->cells->count);
    if (left > 0.0 || unknown == 0) {
        fputs("about ", run->r->progress);
        gess__put_seconds(run->r->progress, left);
        fputs(" left", run->r->progress);
    }
    if (unknown > 0) fprintf(run->r->progress, "%s%zu of unknown length", left > 0.0 ? " and " : "", unknown);
    fprintf(run->r->progress, "; %s%s", cell->name, run->terminal ? "\033[K" : "\n");
    fflush(run->r->progress);
}

static int start_some(runner *run, gess_error *err)
{
    for (unsigned i = 0; i < run->r->jobs && run->next < run->queued; i++) {
        job *j = &run->jobs[i];
        if (j->child != 0) continue;
        j->cell = run->queue[run->next++];
        j->begun = gess__seconds();
        GESS_TRY(start(j->cell, run->r, &j->child, err));
        show(run, j->cell);
    }
    return GESS_OK;
}

static int collect(runner *run, job *j, int code, gess_error *err)
{
    j->child = 0;
    if (WIFSIGNALED(code))
        return gess__fail(err, GESS_ERR_INTERNAL, "%s ended by signal %d", j->cell->name, WTERMSIG(code));
    if (WEXITSTATUS(code) != GESS_OK)
        return gess__fail(err, WEXITSTATUS(code), "%s failed; its message is above. Cells that were done are kept",
                          j->cell->name);
    j->cell->result = read_result(j->cell, run->r->directory);
    if (j->cell->result == NULL)
        return gess__fail(err, GESS_ERR_FILE, "%s/%s does not have the result that was written", run->r->directory,
                          j->cell->file);
    gess__rates_note(run->cells->rates, j->cell->settings, j->cell->result, j->cell->cost);
    run->finished++;
    show(run, j->cell);
    return GESS_OK;
}

static int collect_some(runner *run, gess_error *err)
{
    for (unsigned i = 0; i < run->r->jobs; i++) {
        job *j = &run->jobs[i];
        int code;
        if (j->child != 0 && waitpid(j->child, &code, WNOHANG) == j->child) GESS_TRY(collect(run, j, code, err));
    }
    return GESS_OK;
}

/* Waits for SIGINT, SIGTERM and SIGCHLD, which are blocked. */
static int loop(runner *run, gess_error *err)
{
    sigset_t awaited;
    const struct timespec second = {.tv_sec = 1};
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGCHLD);
    while (run->finished < run->queued) {
        GESS_TRY(start_some(run, err));
        int number = sigtimedwait(&awaited, NULL, &second);
        GESS_TRY(collect_some(run, err));
        if (number == SIGINT || number == SIGTERM)
            return gess__fail(err, GESS_ERR_STOPPED,
                              "stopped; the same command goes on from here (%zu of %zu cells are in %s/cells)",
                              done_cells(run->cells), run->cells->count, run->r->directory);
    }
    return GESS_OK;
}

int gess__in_shard(const gess__reproduction *r, size_t i)
{
    return r->shards == 0 || i % r->shards == r->shard - 1;
}

int gess__cells_run(gess__cells *cells, size_t first, size_t count, const gess__reproduction *r, gess_error *err)
{
    runner run = {.r = r, .cells = cells, .terminal = r->progress != NULL && isatty(fileno(r->progress))};
    int status = gess__alloc_bytes(&run.queue, count + 1, sizeof *run.queue, "cells", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&run.jobs, r->jobs, sizeof *run.jobs, "jobs", err);
    for (size_t i = first; status == GESS_OK && i < first + count; i++)
        if (cells->cell[i].result == NULL && gess__in_shard(r, i)) run.queue[run.queued++] = &cells->cell[i];
    if (status == GESS_OK) {
        qsort(run.queue, run.queued, sizeof *run.queue, by_trial);
        json_decref(gess__making()); /* asks git here, once, and not in every child */
        status = loop(&run, err);
        stop_all(&run);
        if (run.terminal && run.shown > 0.0) fputc('\n', r->progress);
    }
    free(run.queue);
    free(run.jobs);
    return status;
}
