/* Says on a page what its cells were computed with, and which cells it lacks: those of a smaller protocol, those that
 * --only leaves out, and, with --partial, those that have not been computed yet. */
#include "reproduce/reproduce.h"

#include "base/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Names that are listed of a group of missing cells. */
enum { MAX_NAMES = 30 };

/* ---- what computes ---- */

/* The first line that a command prints, after `separator`; "" if it fails. */
static void first_line(const char *command, const char *separator, char *line, size_t size)
{
    char all[512] = "";
    FILE *in = popen(command, "re"); /* NOLINT(cert-env33-c): all of it comes from the build */
    line[0] = '\0';
    if (in == NULL) return;
    if (fgets(all, sizeof all, in) == NULL) all[0] = '\0';
    pclose(in);
    all[strcspn(all, "\n")] = '\0';
    const char *at = separator[0] != '\0' ? strstr(all, separator) : all;
    if (at != NULL) snprintf(line, size, "%s", at + strlen(separator));
}

const char *gess__commit(void)
{
    static char commit[64];
    static int known;
    if (!known)
        first_line("cd '" GESS_SOURCE_DATA
                   "/..' 2>/dev/null && commit=$(git describe --always --exclude='*' --abbrev=12 "
                   "2>/dev/null) && { git diff --quiet HEAD -- src include tools cli data CMakeLists.txt 2>/dev/null "
                   "|| "
                   "commit=$commit-dirty; } && echo $commit",
                   "", commit, sizeof commit);
    known = 1;
    return commit;
}

static const char *processor(void)
{
    static char name[128];
    static int known;
    if (!known) first_line("grep -m1 'model name' /proc/cpuinfo 2>/dev/null", ": ", name, sizeof name);
    known = 1;
    return name[0] != '\0' ? name : gess__cpu_name();
}

json_t *gess__making(void)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    return json_pack("{s:s, s:s, s:s}", "commit", gess__commit(), "cpu", processor(), "date", date);
}

/* Counts a text in an object of counts. */
static void count_text(json_t *counts, const char *text)
{
    if (text[0] == '\0') text = "unknown";
    json_object_set_new(counts, text, json_integer((json_int_t)gess__json_count(counts, text) + 1));
}

void gess__page_making(json_t *page, size_t count, const gess__cell *cells)
{
    json_t *commits = json_object(), *processors = json_object();
    const char *from = "", *to = "";
    for (size_t i = 0; i < count; i++) {
        const json_t *made = json_object_get(cells[i].result, "computed");
        const char *date = gess__json_text(made, "date");
        count_text(commits, gess__json_text(made, "commit"));
        count_text(processors, gess__json_text(made, "cpu"));
        if (date[0] == '\0') continue;
        if (from[0] == '\0' || strcmp(date, from) < 0) from = date;
        if (strcmp(date, to) > 0) to = date;
    }
    json_object_set_new(json_object_get(page, "made with"), "cells",
                        json_pack("{s:o, s:o, s:s, s:s}", "commits", commits, "processors", processors, "from", from,
                                  "to", to));
}

static void put_counts(FILE *out, const json_t *counts)
{
    const char *text, *before = "";
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)counts, text, value)
    {
        fprintf(out, "%s%s", before, text);
        if (json_object_size(counts) > 1) fprintf(out, " (%lld)", (long long)json_integer_value(value));
        before = ", ";
    }
}

json_t *gess__page_command(const json_t *page)
{
    const json_t *x = json_object_get(page, "reproduction"), *budgets = json_object_get(x, "budgets");
    const json_t *iterations = json_object_get(x, "iterations");
    const char *name = gess__json_text(page, "name");
    int table = strcmp(name, "table-scaling") == 0; /* the others take no notice of these two */
    char text[1024];
    int used = snprintf(text, sizeof text, "gess reproduce %s%s%s --trials %llu --scale %.10g --seed %llu", name,
                        json_is_true(json_object_get(x, "quick")) ? " --quick" : "",
                        json_is_true(json_object_get(x, "partial")) ? " --partial" : "",
                        (unsigned long long)gess__json_count(x, "trials"), gess__json_real(x, "scale"),
                        (unsigned long long)gess__json_count(x, "seed"));
    if (gess__json_text(x, "only")[0] != '\0')
        used += snprintf(text + used, sizeof text - (size_t)used, " --only %.500s", gess__json_text(x, "only"));
    for (size_t i = 0; table && i < json_array_size(budgets); i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.10g", i == 0 ? " --budgets " : ",",
                         json_number_value(json_array_get(budgets, i)));
    for (size_t i = 0; table && i < json_array_size(iterations); i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld", i == 0 ? " --iterations " : ",",
                         (long long)json_integer_value(json_array_get(iterations, i)));
    return json_string(text);
}

void gess__put_making(FILE *out, const json_t *page)
{
    const json_t *made = json_object_get(page, "made with"), *cells = json_object_get(made, "cells");
    const char *from = gess__json_text(cells, "from"), *to = gess__json_text(cells, "to");
    uint64_t seed = gess__json_count(made, "first seed"), trials = gess__json_count(made, "trials");
    fprintf(out, "Cells: gess %s, commit ", gess__json_text(made, "version"));
    put_counts(out, json_object_get(cells, "commits"));
    fputs(", on ", out);
    put_counts(out, json_object_get(cells, "processors"));
    if (from[0] != '\0') fprintf(out, ", %s", from);
    if (strcmp(from, to) != 0) fprintf(out, " to %s", to);
    fprintf(out, "; seed%s %llu", trials > 1 ? "s" : "", (unsigned long long)seed);
    if (trials > 1) fprintf(out, " to %llu", (unsigned long long)(seed + trials - 1));
    fprintf(out, ". Page: %s", gess__json_text(made, "date"));
    if (gess__json_text(made, "commit")[0] != '\0') fprintf(out, ", commit %s", gess__json_text(made, "commit"));
    json_t *command = gess__page_command(page);
    fprintf(out, ", %s.", json_string_value(command));
    json_decref(command);
}

/* ---- what is missing ---- */

/* A cell's name without its figure: the trial is cut off, and what stands before the last slash is the group. */
typedef struct parts {
    char group[96], name[96];
    uint64_t trial;
} parts;

static parts cut(const gess__cell *cell)
{
    parts p = {.trial = gess__json_count(cell->settings, "seed")};
    char text[96];
    snprintf(text, sizeof text, "%s", cell->name + strlen(cell->figure->name) + 1);
    char *trial = cell->figure->by_trials ? strrchr(text, '/') : NULL;
    if (trial != NULL) *trial = '\0';
    char *last = strrchr(text, '/');
    if (last != NULL) {
        *last = '\0';
        snprintf(p.name, sizeof p.name, "%s", last + 1);
    }
    snprintf(p.group, sizeof p.group, "%s", text);
    return p;
}

/* The member of an object, which is made if it is not there. */
static json_t *member(json_t *object, const char *key, int array)
{
    json_t *value = json_object_get(object, key);
    if (value != NULL) return value;
    value = array ? json_array() : json_object();
    json_object_set_new(object, key, value);
    return value;
}

/* A list of trials as text: "trial 1", "trials 2 to 5", "trials 1, 3". */
static void say_trials(const json_t *trials, char *text, size_t size)
{
    size_t n = json_array_size(trials);
    json_int_t first = json_integer_value(json_array_get(trials, 0)),
               last = json_integer_value(json_array_get(trials, n - 1));
    if (n == 1) {
        snprintf(text, size, "trial %lld", (long long)first);
    } else if ((size_t)(last - first) + 1 == n) {
        snprintf(text, size, "trials %lld to %lld", (long long)first, (long long)last);
    } else {
        size_t used = (size_t)snprintf(text, size, "trials %lld", (long long)first);
        for (size_t i = 1; i < n && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, ", %lld",
                                     (long long)json_integer_value(json_array_get(trials, i)));
    }
}

/* "density: trials 2 to 5 of a, b": a line per group and list of trials. */
static void list_group(json_t *page, const char *group, json_t *members)
{
    json_t *by_trials = json_object(), *names;
    const char *name, *trials;
    const json_t *missing;
    char text[160];
    json_object_foreach(members, name, missing)
    {
        if (json_array_size(missing) == 0) continue;
        say_trials(missing, text, sizeof text);
        json_array_append_new(member(by_trials, text, 1), json_string(name));
    }
    json_object_foreach(by_trials, trials, names)
    {
        size_t n = json_array_size(names), all = json_object_size(members), used = 0;
        char list[4096] = "";
        for (size_t i = 0; i < n && i < MAX_NAMES && used < sizeof list; i++)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                     json_string_value(json_array_get(names, i)));
        if (n == 1 && list[0] == '\0')
            gess__page_text(page, "missing", "%s: %s", group, trials);
        else if (n == all)
            gess__page_text(page, "missing", "%s: %s of all %zu", group, trials, n);
        else if (n > MAX_NAMES)
            gess__page_text(page, "missing", "%s: %s of %s, and %zu more", group, trials, list, n - MAX_NAMES);
        else
            gess__page_text(page, "missing", "%s: %s of %s", group, trials, list);
    }
    json_decref(by_trials);
}

/* Counts the cells that are there, and their trials: the fewest and the most of a setting that has any. */
static size_t count_trials(size_t count, const gess__cell *cells, json_t *made)
{
    json_t *settings = json_object(), *value;
    size_t present = 0, fewest = 0, most = 0;
    const char *key;
    for (size_t i = 0; i < count; i++) {
        const parts p = cut(&cells[i]);
        char name[200];
        if (cells[i].result == NULL) continue;
        snprintf(name, sizeof name, "%s/%s", p.group, p.name);
        count_text(settings, name);
        present++;
    }
    json_object_foreach(settings, key, value)
    {
        size_t n = (size_t)json_integer_value(value);
        if (fewest == 0 || n < fewest) fewest = n;
        if (n > most) most = n;
    }
    json_object_set_new(made, "fewest_trials", json_integer((json_int_t)fewest));
    json_object_set_new(made, "most_trials", json_integer((json_int_t)most));
    json_decref(settings);
    return present;
}

void gess__page_missing(json_t *page, size_t count, const gess__cell *cells)
{
    json_t *groups = json_object(), *members, *made = json_object_get(page, "made with");
    const char *group;
    size_t present = count_trials(count, cells, made);
    json_object_set_new(made, "computed", json_integer((json_int_t)present));
    json_object_set_new(made, "planned", json_integer((json_int_t)count));
    for (size_t i = 0; i < count; i++) {
        const parts p = cut(&cells[i]);
        json_t *missing = member(member(groups, p.group, 0), p.name, 1);
        if (cells[i].result == NULL) json_array_append_new(missing, json_integer((json_int_t)p.trial));
    }
    json_object_foreach(groups, group, members) list_group(page, group, members);
    json_decref(groups);
}

/* ---- the sentence about it ---- */

static int say_incomplete(const json_t *made, char *text, size_t size)
{
    uint64_t computed = gess__json_count(made, "computed"), planned = gess__json_count(made, "planned");
    uint64_t fewest = gess__json_count(made, "fewest_trials"), most = gess__json_count(made, "most_trials");
    if (computed == planned) return 0;
    int used = snprintf(text, size, "Incomplete: %llu of %llu cells", (unsigned long long)computed,
                        (unsigned long long)planned);
    if (json_is_integer(json_object_get(made, "trials"))) {
        used += snprintf(text + used, size - (size_t)used, ", %llu", (unsigned long long)fewest);
        if (most > fewest) used += snprintf(text + used, size - (size_t)used, " to %llu", (unsigned long long)most);
        used += snprintf(text + used, size - (size_t)used, " of %llu trials",
                         (unsigned long long)gess__json_count(made, "trials"));
    }
    return used + snprintf(text + used, size - (size_t)used, "; the page lists those that are missing. ");
}

void gess__page_shortfall(const json_t *page, char *text, size_t size)
{
    const json_t *made = json_object_get(page, "made with");
    const char *only = gess__json_text(json_object_get(page, "reproduction"), "only");
    double scale = gess__json_real(made, "scale"), max = gess__json_real(made, "scale_most");
    double trials = gess__json_real(made, "trials");
    if (isnan(scale)) scale = max = 1.0; /* nothing can be scaled */
    text[0] = '\0';
    int start = say_incomplete(made, text, size);
    int used = start + snprintf(text + start, size - (size_t)start,
                                "%s than the protocol: ", scale > 1.0 ? "Larger" : "Smaller");
    int before = used;
    if (trials < 5.0) used += snprintf(text + used, size - (size_t)used, "%.0f of 5 trials; ", trials);
    if (scale != 1.0)
        used += snprintf(text + used, size - (size_t)used, "iterations, or budgets of evaluations, times %.3g", scale);
    if (scale != 1.0 && max > scale) used += snprintf(text + used, size - (size_t)used, " to %.3g", max);
    if (scale != 1.0) used += snprintf(text + used, size - (size_t)used, "; ");
    if (json_is_true(json_object_get(made, "part")))
        used += snprintf(text + used, size - (size_t)used, "only a part of the cells (%.100s); ", only);
    if (used > before)
        memcpy(text + used - 2, ".", 2);
    else
        text[start > 0 ? start - 1 : 0] = '\0';
}
