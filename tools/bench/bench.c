/* The table of benchmarks, and the helpers that they share. */
#include "bench/bench.h"

#include "base/cpu.h"
#include "base/linalg.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GESS_BENCH(name) extern const gess__bench gess__bench_##name;
#include "bench/benches.def"
#undef GESS_BENCH

static const gess__bench *const table[] = {
#define GESS_BENCH(name) &gess__bench_##name,
#include "bench/benches.def"
#undef GESS_BENCH
};

const gess__bench *gess__bench_row_of(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i] : NULL;
}

/* A new line with this text; NULL if there is no room. */
static gess__bench_row *new_row(gess__bench_result *result, const char *format, va_list args)
{
    if (result->count == GESS__BENCH_ROWS) return NULL;
    gess__bench_row *row = &result->rows[result->count++];
    vsnprintf(row->what, sizeof row->what, format, args);
    return row;
}

void gess__bench_add(gess__bench_result *result, double seconds, double reference, double goal, int more_is_better,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    gess__bench_row *row = new_row(result, format, args);
    va_end(args);
    if (row == NULL) return;
    row->seconds = seconds;
    row->reference = reference;
    row->ratio = more_is_better ? reference / seconds : seconds / reference;
    row->goal = goal;
    row->more_is_better = more_is_better;
}

void gess__bench_figure(gess__bench_result *result, double value, double goal, int more_is_better, const char *format,
                        ...)
{
    va_list args;
    va_start(args, format);
    gess__bench_row *row = new_row(result, format, args);
    va_end(args);
    if (row == NULL) return;
    row->seconds = row->reference = NAN;
    row->ratio = value;
    row->goal = goal;
    row->more_is_better = more_is_better;
}

double gess__bench_median(size_t n, double *values)
{
    gess__sort(n, values);
    return values[n / 2];
}

uint64_t gess__bench_checksum(const gess__segment *s, size_t columns)
{
    uint64_t sum = 0;
    for (size_t c = 0; c < s->count; c++)
        for (uint64_t i = 0; i < s->draws; i++)
            for (size_t j = 0; j < columns; j++) {
                uint64_t place = ((s->first_draw + i) * 1000003 + s->first + c) * 1009 + j;
                sum += gess__bits(s->rows[(c * s->draws + i) * columns + j]) * (2 * place + 1);
            }
    return sum;
}

/* Appends `length` bytes to an item. */
static int append(char item[GESS__BENCH_ITEM], const char *text, size_t length, gess_error *err)
{
    size_t used = strlen(item);
    if (used + length >= GESS__BENCH_ITEM)
        return gess__fail(err, GESS_ERR_USAGE, "bench: `%.*s` is too long", (int)length, text);
    memcpy(item + used, text, length);
    item[used + length] = '\0';
    return GESS_OK;
}

int gess__bench_split(const char *text, gess__bench_list *list, gess_error *err)
{
    *list = (gess__bench_list){0};
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        int goes_on = list->count > 0 && memchr(text, '=', length) != NULL && memchr(text, ':', length) == NULL &&
                      strchr(list->item[list->count - 1], ':') != NULL;
        if (goes_on) GESS_TRY(append(list->item[list->count - 1], ",", 1, err));
        if (!goes_on && list->count++ == GESS__BENCH_ITEMS)
            return gess__fail(err, GESS_ERR_USAGE, "bench: more than %d items in a list", GESS__BENCH_ITEMS);
        GESS_TRY(append(list->item[list->count - 1], text, length, err));
        text += length;
        text += *text == ',';
    }
    return GESS_OK;
}

int gess__bench_has(const gess__bench_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i], item) == 0) return 1;
    return 0;
}

void gess__bench_say(const gess__bench_options *options, const char *format, ...)
{
    va_list args;
    if (options->text == NULL) return;
    va_start(args, format);
    vfprintf(options->text, format, args);
    va_end(args);
    fflush(options->text);
}

int gess__bench_file(const char *name, char *path, size_t size, gess_error *err)
{
    char folder[512] = "";
    snprintf(path, size, "%s/../bench/%s", GESS_SOURCE_DATA, name);
    if (access(path, R_OK) == 0) return GESS_OK;
    if (readlink("/proc/self/exe", folder, sizeof folder - 1) > 0) *strrchr(folder, '/') = '\0';
    snprintf(path, size, "%s/../share/gess/bench/%s", folder, name);
    if (access(path, R_OK) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "bench: cannot find bench/%s in the source tree or beside this program",
                      name);
}

/* The first line that a command prints, from behind `after` on if that occurs; "" if there is none. */
static void first_line(const char *command, const char *after, char *line, size_t size)
{
    FILE *pipe = popen(command, "re"); /* NOLINT(cert-env33-c): all of it comes from the build */
    line[0] = '\0';
    if (pipe == NULL) return;
    if (fgets(line, (int)size, pipe) == NULL) line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *from = strstr(line, after);
    if (from != NULL) memmove(line, from + strlen(after), strlen(from + strlen(after)) + 1);
    pclose(pipe);
}

json_t *gess__bench_machine(void)
{
    char commit[128], processor[256];
    first_line("git -C '" GESS_SOURCE_DATA "' describe --always --dirty --abbrev=12 2>/dev/null", "", commit,
               sizeof commit);
    first_line("grep -m1 'model name' /proc/cpuinfo 2>/dev/null", ": ", processor, sizeof processor);
    return json_pack("{s:s, s:o, s:s, s:I, s:s, s:s, s:s}", "version", gess_version(), "commit",
                     commit[0] != '\0' ? json_string(commit) : json_null(), "processor", processor, "cores",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "cpu", gess__cpu_name(), "blas", gess__linalg_name(),
                     "compiler", __VERSION__);
}

json_t *gess__bench_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
