/* Reads progress.json, finds out whether the run is alive, and puts what it says into words. */
#include "report/watch.h"

#include "report/rules.h"
#include "run/directory.h"

#include <errno.h>
#include <gess/draws.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SILENT 60.0 /* seconds without a sign of life */

static json_t *load(const char *directory, const char *file)
{
    char path[4096];
    if (gess__directory_path(directory, file, path, sizeof path, NULL) != GESS_OK) return NULL;
    return json_load_file(path, 0, NULL);
}

static bool exists(const char *directory, const char *file)
{
    char path[4096];
    return gess__directory_path(directory, file, path, sizeof path, NULL) == GESS_OK && access(path, F_OK) == 0;
}

/* Whether the process that wrote the file is surely gone: it ran on this host, and its number is nobody's. */
static bool gone(const json_t *progress)
{
    char host[256] = "";
    const char *theirs = json_string_value(json_object_get(progress, "host"));
    json_int_t pid = json_integer_value(json_object_get(progress, "pid"));
    gethostname(host, sizeof host - 1);
    return theirs != NULL && strcmp(theirs, host) == 0 && pid > 1 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static int state_of(const json_t *progress, double age)
{
    const char *state = json_string_value(json_object_get(progress, "state"));
    if (state != NULL && strcmp(state, "finished") == 0) return GESS_WATCH_FINISHED;
    if (state != NULL && strcmp(state, "stopped") == 0) return GESS_WATCH_STOPPED;
    if (state != NULL && strcmp(state, "failed") == 0) return GESS_WATCH_FAILED;
    if (gone(progress)) return GESS_WATCH_GONE;
    return age > SILENT ? GESS_WATCH_SILENT : GESS_WATCH_RUNNING;
}

/* The figures of all columns that the summary has once the run is over. */
static void take_summary(json_t *progress, const char *directory)
{
    size_t i;
    double ess = INFINITY, rhat = -INFINITY, nested = -INFINITY;
    json_t *row, *summary = load(directory, "summary.json");
    json_array_foreach(json_object_get(summary, "parameters"), i, row)
    {
        double e = gess__number_of(row, "ess_bulk"), r = gess__number_of(row, "r_hat"),
               n = gess__number_of(row, "r_hat_nested");
        if (e < ess) ess = e;
        if (r > rhat) rhat = r;
        if (n > nested) nested = n;
    }
    if (isfinite(ess)) json_object_set_new(progress, "ess", json_real(ess));
    if (isfinite(rhat)) json_object_set_new(progress, "rhat", json_real(rhat));
    /* only where it is the one that decides, as the run has said */
    if (isfinite(nested) && isfinite(gess__number_of(progress, "rhat_nested")))
        json_object_set_new(progress, "rhat_nested", json_real(nested));
    json_decref(summary);
}

/* What an earlier version of gess, which wrote no progress.json, left of a run that is over. */
static json_t *of_earlier_version(const char *directory)
{
    json_t *summary = load(directory, "summary.json");
    if (!json_is_object(summary)) {
        json_decref(summary);
        return NULL;
    }
    json_t *progress = json_pack("{s:s, s:s}", "state", "finished", "phase", "sampling");
    static const char *const keys[] = {"chains", "draws", "evals", "evals_sampling", "updates", "seconds", "nans"};
    for (size_t i = 0; progress != NULL && i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(summary, keys[i]) != NULL)
            json_object_set(progress, keys[i], json_object_get(summary, keys[i]));
    json_decref(summary);
    return progress;
}

int gess__watch_load(gess__watch *w, const char *directory, gess_error *err)
{
    struct stat about;
    struct timespec now;
    *w = (gess__watch){.directory = directory, .state = GESS_WATCH_WAITING, .age = NAN};
    if (stat(directory, &about) != 0 || !S_ISDIR(about.st_mode))
        return gess__fail(err, GESS_ERR_FILE, "%s is no directory of a run", directory);
    bool there = exists(directory, "progress.json");
    w->progress = there ? load(directory, "progress.json") : of_earlier_version(directory);
    if (there && !json_is_object(w->progress)) {
        json_decref(w->progress);
        w->progress = NULL;
        return gess__fail(err, GESS_ERR_FILE, "%s/progress.json is damaged; `gess summary %s` has the figures so far",
                          directory, directory);
    }
    if (w->progress == NULL) return GESS_OK;
    clock_gettime(CLOCK_REALTIME, &now);
    if (there) w->age = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - gess__number_of(w->progress, "updated");
    if (w->age < 0.0) w->age = 0.0; /* the clocks of two machines */
    w->state = there ? state_of(w->progress, w->age) : GESS_WATCH_FINISHED;
    if (w->state == GESS_WATCH_FINISHED) take_summary(w->progress, directory);
    return GESS_OK;
}

void gess__watch_free(gess__watch *w)
{
    json_decref(w->progress);
    w->progress = NULL;
}

/* ---- words ---- */

static double get(const gess__watch *w, const char *key)
{
    return gess__number_of(w->progress, key);
}

static double target(const gess__watch *w, const char *key)
{
    return gess__number_of(json_object_get(w->progress, "targets"), key);
}

/* A number of things, with digits in groups of three. */
static const char *things(double x, char text[40])
{
    char digits[40];
    size_t used = 0;
    if (!isfinite(x)) return "?";
    int length = snprintf(digits, sizeof digits, "%.0f", x);
    for (int i = 0; i < length && used + 2 < 40; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

static const char *duration(double s, char text[40])
{
    if (s < 60.0)
        snprintf(text, 40, "%.0f s", s);
    else if (s < 3600.0)
        snprintf(text, 40, "%d min %d s", (int)s / 60, (int)s % 60);
    else if (s < 172800.0)
        snprintf(text, 40, "%d h %d min", (int)(s / 3600.0), (int)fmod(s, 3600.0) / 60);
    else
        snprintf(text, 40, "%.1f days", s / 86400.0);
    return text;
}

static void add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    if (used < size) vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* Column `column` of a list of lists, as a series. */
static void take_series(gess__watch_line *line, const json_t *list, size_t column)
{
    size_t count = json_array_size(list), first = count > GESS__WATCH_SERIES ? count - GESS__WATCH_SERIES : 0;
    for (size_t i = first; i < count; i++) {
        const json_t *value = json_array_get(json_array_get(list, i), column);
        if (json_is_number(value)) line->series[line->count++] = json_number_value(value);
    }
}

static gess__watch_line *begin(gess__watch_line *lines, size_t *count, const char *about)
{
    gess__watch_line *line = &lines[(*count)++];
    *line = (gess__watch_line){.about = about, .share = NAN, .target = NAN};
    return line;
}

static bool in_phase(const gess__watch *w, const char *name)
{
    const char *phase = json_string_value(json_object_get(w->progress, "phase"));
    return phase != NULL && strcmp(phase, name) == 0;
}

static void add_phase(const gess__watch *w, gess__watch_line *lines, size_t *count)
{
    char a[40], b[40];
    bool warm = in_phase(w, "learning"), over = w->state != GESS_WATCH_RUNNING && w->state != GESS_WATCH_SILENT;
    double done = get(w, "phase_done"), total = get(w, "phase_total"), left = get(w, "seconds_left");
    gess__watch_line *line = begin(lines, count, warm ? "learning" : "draws");
    if (!isfinite(done)) done = get(w, warm ? "evals" : "draws");
    add(line->text, sizeof line->text, "%s", things(done, a));
    if (total > 0.0 && !over) {
        add(line->text, sizeof line->text, " of %s%s%s",
            warm                           ? "at most "
            : isfinite(target(w, "draws")) ? ""
                                           : "about ",
            things(total, b), warm ? " evaluations" : " per chain");
        line->share = done / total;
        if (left >= 1.0)
            add(line->text, sizeof line->text, ", %s%s left", warm ? "at most " : "about ", duration(left, a));
    } else {
        add(line->text, sizeof line->text, "%s", warm ? " evaluations" : " per chain");
    }
}

static void add_budget(const gess__watch *w, gess__watch_line *lines, size_t *count)
{
    char a[40], b[40];
    double evals = get(w, "evals"), most = target(w, "max_evals"), rate = get(w, "evals_per_second");
    gess__watch_line *line = begin(lines, count, "budget");
    add(line->text, sizeof line->text, "%s", things(evals, a));
    if (most > 0.0) {
        add(line->text, sizeof line->text, " of at most %s", things(most, b));
        line->share = evals / most;
    }
    add(line->text, sizeof line->text, " evaluations");
    if (rate >= 100.0 && w->state == GESS_WATCH_RUNNING) add(line->text, sizeof line->text, ", %s/s", things(rate, a));
    if (rate > 0.0 && rate < 100.0 && w->state == GESS_WATCH_RUNNING)
        add(line->text, sizeof line->text, ", %.3g/s", rate);
    if (get(w, "updates") > 0.0) add(line->text, sizeof line->text, ", %.2f per update", evals / get(w, "updates"));
    if (in_phase(w, "learning")) take_series(line, json_object_get(w->progress, "stages"), 1);
}

static void add_figures(const gess__watch *w, gess__watch_line *lines, size_t *count)
{
    char a[40], b[40];
    double ess = get(w, "ess"), rhat = get(w, "rhat"), nested = get(w, "rhat_nested"), wanted = target(w, "ess");
    const json_t *checks = json_object_get(w->progress, "checks");
    bool until = !isfinite(target(w, "draws"));
    if (!isfinite(ess) || !isfinite(rhat)) return;
    gess__watch_line *line = begin(lines, count, "ESS");
    add(line->text, sizeof line->text, "%s", things(ess, a));
    if (until && wanted > 0.0) {
        add(line->text, sizeof line->text, " of %s", things(wanted, b));
        line->target = wanted;
        line->share = ess / wanted;
    }
    take_series(line, checks, 2);
    line = begin(lines, count, "R-hat");
    bool grouped = isfinite(nested);
    add(line->text, sizeof line->text, "%.4f", grouped ? nested : rhat);
    if (until && isfinite(target(w, "rhat"))) {
        add(line->text, sizeof line->text, ", %g is wanted", target(w, "rhat"));
        line->target = target(w, "rhat") - 1.0;
    }
    if (grouped) add(line->text, sizeof line->text, " (of groups of chains; of single chains %.4f)", rhat);
    take_series(line, checks, 3);
    for (size_t i = 0; i < line->count; i++) line->series[i] -= 1.0;
    line->logarithmic = true;
}

static void add_slowest(const gess__watch *w, gess__watch_line *lines, size_t *count)
{
    size_t i;
    char ess[40];
    json_t *row, *list = json_object_get(w->progress, "slowest");
    if (json_array_size(list) == 0 || w->state == GESS_WATCH_FINISHED) return;
    gess__watch_line *line = begin(lines, count, "slowest");
    json_array_foreach(list, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        add(line->text, sizeof line->text, "%s%.48s (%s%s, %s%.3f)", i > 0 ? ", " : "", name != NULL ? name : "?",
            i > 0 ? "" : "ESS ", things(gess__number_of(row, "ess"), ess), i > 0 ? "" : "R-hat ",
            gess__number_of(row, "rhat"));
    }
}

static void add_ranks(const gess__watch *w, gess__watch_line *lines, size_t *count)
{
    size_t i;
    double all = 0.0;
    json_t *row, *list = json_object_get(w->progress, "ranks");
    if (json_array_size(list) == 0) return;
    json_array_foreach(list, i, row) all += gess__number_of(row, "updates");
    gess__watch_line *line = begin(lines, count, "ranks");
    add(line->text, sizeof line->text, "%zu: ", json_array_size(list));
    json_array_foreach(list, i, row)
    {
        const char *host = json_string_value(json_object_get(row, "host"));
        if (i == 8) {
            add(line->text, sizeof line->text, ", …");
            break;
        }
        add(line->text, sizeof line->text, "%s%.30s %.0f %%", i > 0 ? ", " : "", host != NULL ? host : "?",
            all > 0.0 ? 100.0 * gess__number_of(row, "updates") / all : 0.0);
    }
}

static void add_time(const gess__watch *w, gess__watch_line *lines, size_t *count)
{
    char a[40], since[40] = "";
    double started = get(w, "started");
    gess__watch_line *line = begin(lines, count, "time");
    if (isfinite(get(w, "seconds"))) add(line->text, sizeof line->text, "%s", duration(get(w, "seconds"), a));
    if (isfinite(started)) {
        time_t when = (time_t)started;
        struct tm local;
        if (localtime_r(&when, &local) != NULL && strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", &local) > 0)
            add(line->text, sizeof line->text, ", this session since %s", since);
    }
    if ((w->state == GESS_WATCH_RUNNING || w->state == GESS_WATCH_SILENT) && w->age >= 5.0)
        add(line->text, sizeof line->text, "; last sign of life %s ago", duration(w->age, a));
    double nans = get(w, "nans"), crashes = get(w, "crashes");
    if (!(nans > 0.0) && !(crashes > 0.0)) return;
    line = begin(lines, count, "trouble");
    if (nans > 0.0) add(line->text, sizeof line->text, "%s evaluations gave NaN", things(nans, a));
    if (crashes > 0.0)
        add(line->text, sizeof line->text, "%s%s evaluations lost their process", nans > 0.0 ? ", " : "",
            things(crashes, a));
}

static void make_title(const gess__watch *w, char *title, size_t size)
{
    static const char *const words[] = {[GESS_WATCH_WAITING] = "no run has begun there yet",
                                        [GESS_WATCH_RUNNING] = "running",
                                        [GESS_WATCH_SILENT] = "no sign of life: a slow density, or the run is gone",
                                        [GESS_WATCH_GONE] = "its process is gone; `gess resume` continues the run",
                                        [GESS_WATCH_STOPPED] = "stopped; `gess resume` continues the run",
                                        [GESS_WATCH_FINISHED] = "finished",
                                        [GESS_WATCH_FAILED] = "failed"};
    const char *model = json_string_value(json_object_get(w->progress, "model"));
    const char *message = json_string_value(json_object_get(w->progress, "message"));
    title[0] = '\0';
    add(title, size, "%.150s: ", w->directory);
    char chains[40];
    if (model != NULL) add(title, size, "%.80s, ", model);
    if (w->progress != NULL) add(title, size, "%s chains, ", things(get(w, "chains"), chains));
    if (w->state == GESS_WATCH_RUNNING)
        add(title, size, "%s",
            in_phase(w, "learning")   ? "learning"
            : in_phase(w, "checking") ? "checking the targets"
                                      : "sampling");
    else
        add(title, size, "%s", words[w->state]);
    if (w->state == GESS_WATCH_FAILED && message != NULL) add(title, size, ": %.200s", message);
}

/* Names may contain anything. */
static void clean(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
}

size_t gess__watch_lines(const gess__watch *w, char title[400], gess__watch_line lines[GESS__WATCH_LINES])
{
    size_t count = 0;
    make_title(w, title, 400);
    clean(title);
    if (w->progress == NULL) return 0;
    add_phase(w, lines, &count);
    add_budget(w, lines, &count);
    add_figures(w, lines, &count);
    add_slowest(w, lines, &count);
    add_ranks(w, lines, &count);
    add_time(w, lines, &count);
    for (size_t i = 0; i < count; i++) clean(lines[i].text);
    return count;
}
