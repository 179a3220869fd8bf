/* Lists options, models, kernels, schedules, exporters and plots for bindings, completions and documentation, from the
 * tables that the library itself uses. */
#include "base/mem.h"
#include "base/options.h"
#include "export/registry.h"
#include "kernel/kernel.h"
#include "model/model.h"
#include "parallel/team.h"
#include "report/plots.h"
#include "schedule/schedule.h"

#include <string.h>

static int choices_of(const gess__option *row)
{
    if (strcmp(row->name, "kernel") == 0) return GESS_LIST_KERNELS;
    if (strcmp(row->name, "schedule") == 0) return GESS_LIST_SCHEDULES;
    return -1;
}

/* The defaults as text: constant, since options are. */
static const char *default_of(size_t index)
{
    static const char *const defaults[] = {
#define GESS_COUNT(name, flag, value, low, high, unit, help) #value,
#define GESS_COUNT_OR_AUTO(name, flag, low, high, unit, help) "auto",
#define GESS_COUNT_AUTO_TOO(name, flag, value, low, high, unit, help) #value,
#define GESS_REAL(name, flag, value, low, high, unit, help) #value,
#define GESS_TIME(name, flag, unit, help) "0",
#define GESS_TEXT(name, flag, value, unit, help) value,
#define GESS_FLAG(name, flag, help) "0",
#include "base/options_rows.h"
    };
    return defaults[index];
}

static int option_entry(size_t index, gess_entry *entry)
{
    const gess__option *row = gess__option_row(index);
    if (row == NULL || entry == NULL) return row != NULL;
    *entry = (gess_entry){.name = row->name,
                          .help = row->help,
                          .type = (int)row->type,
                          .unit = row->unit,
                          .value = default_of(index),
                          .min_count = row->low,
                          .max_count = row->high,
                          .min = row->min,
                          .max = row->max,
                          .choices = choices_of(row)};
    return 1;
}

static int model_entry(size_t index, gess_entry *entry)
{
    const gess__builtin *row = gess__builtin_row(index);
    if (row != NULL && entry != NULL)
        *entry = (gess_entry){.name = row->name, .help = row->help, .dimension = row->dimension};
    return row != NULL;
}

static int kernel_entry(size_t index, gess_entry *entry)
{
    const gess__kernel *row = gess__kernel_row(index);
    if (row != NULL && entry != NULL) *entry = (gess_entry){.name = row->name, .help = row->help};
    return row != NULL;
}

static int schedule_entry(size_t index, gess_entry *entry)
{
    const gess__schedule *row = gess__schedule_row(index);
    if (row != NULL && entry != NULL) *entry = (gess_entry){.name = row->name, .help = row->help};
    return row != NULL;
}

static int exporter_entry(size_t index, gess_entry *entry)
{
    const gess__exporter *row = gess__exporter_row(index);
    if (row != NULL && entry != NULL)
        *entry = (gess_entry){.name = row->name,
                              .help = row->help,
                              .built = gess__exporter_available(row),
                              .path = row->path};
    return row != NULL;
}

static int plot_entry(size_t index, gess_entry *entry)
{
    const char *help = NULL, *name = gess__plot_name(index, &help);
    if (name != NULL && entry != NULL) *entry = (gess_entry){.name = name, .help = help};
    return name != NULL;
}

/* Returns whether there is such a row, and fills in *entry unless it is NULL: finding out what an exporter is built
 * with loads its library. */
typedef int entry_fn(size_t index, gess_entry *entry);

static entry_fn *const lists[] =
    {[GESS_LIST_OPTIONS] = option_entry,     [GESS_LIST_MODELS] = model_entry,       [GESS_LIST_KERNELS] = kernel_entry,
     [GESS_LIST_SCHEDULES] = schedule_entry, [GESS_LIST_EXPORTERS] = exporter_entry, [GESS_LIST_PLOTS] = plot_entry};
enum { LISTS = sizeof lists / sizeof *lists };

int gess_list(int kind, size_t index, gess_entry *entry, size_t size, gess_error *err)
{
    gess_entry all = {0};
    GESS_REQUIRE(entry, err);
    if (kind < 0 || kind >= LISTS) return gess__fail(err, GESS_ERR_USAGE, "gess_list: there is no list %d", kind);
    if (!lists[kind](index, &all))
        return gess__fail(err, GESS_ERR_USAGE, "gess_list: list %d has no row %zu", kind, index);
    gess__fill_struct(entry, size, &all, sizeof all);
    return GESS_OK;
}

size_t gess_list_count(int kind)
{
    size_t count = 0;
    if (kind < 0 || kind >= LISTS) return 0;
    while (lists[kind](count, NULL)) count++;
    return count;
}

int gess_options_workers(const gess_options *options, unsigned *workers, gess_error *err)
{
    GESS_REQUIRE(options, err);
    GESS_REQUIRE(workers, err);
    *workers = gess__team_threads((unsigned)options->threads);
    return GESS_OK;
}
