/* gess_summary of <gess/draws.h>: the figures of a run or of CSV files, row by row and as text. */
#include "report/summary.h"

#include "api/argument.h"
#include "api/handles.h"
#include "api/text.h"
#include "base/folder.h"
#include "base/mem.h"
#include "draws/csv_chains.h"
#include "run/directory.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making it ---- */

/* Makes an empty summary, and reads the settings. */
static int make(const char *function, gess_summary **summary, const gess_summary_settings *from, size_t size,
                gess_summary_settings *settings, gess__summary_settings *own, gess_error *err)
{
    GESS_TRY(gess__take_struct(function, settings, sizeof *settings, from, size, err));
    if (settings->threads > 4096)
        return gess__fail(err, GESS_ERR_USAGE, "%s: `threads` is %u, and not from 0 to 4096", function,
                          settings->threads);
    *own = (gess__summary_settings){.vars = settings->variables,
                                    .threads = settings->threads,
                                    .max_bytes = settings->max_bytes};
    GESS_ALLOC(summary, 1, err);
    (*summary)->selected = settings->variables != NULL;
    return GESS_OK;
}

static int finish(gess_summary **summary, const gess_summary_settings *settings, int status)
{
    if (status == GESS_OK) {
        if (settings->worst_first) gess__summary_sort(&(*summary)->figures);
        return GESS_OK;
    }
    gess_summary_free(*summary);
    *summary = NULL;
    return status;
}

int gess_summary_new(gess_summary **summary, const char *directory, const gess_summary_settings *settings, size_t size,
                     gess_error *err)
{
    gess_summary_settings s;
    gess__summary_settings own;
    GESS_REQUIRE(summary, err);
    *summary = NULL;
    GESS_REQUIRE(directory, err);
    int status = make(__func__, summary, settings, size, &s, &own, err);
    if (status == GESS_OK) status = gess__summarise_run(&(*summary)->figures, directory, own, err);
    return finish(summary, &s, status);
}

int gess_summary_new_csv(gess_summary **summary, size_t count, const char *const *paths,
                         const gess_summary_settings *settings, size_t size, gess_error *err)
{
    gess_summary_settings s;
    gess__summary_settings own;
    gess__draws draws = {0};
    GESS_REQUIRE(summary, err);
    *summary = NULL;
    GESS_REQUIRE(paths, err);
    GESS_TRY(gess__check_paths(__func__, count, paths, err));
    int status = make(__func__, summary, settings, size, &s, &own, err);
    if (status == GESS_OK) status = gess__draws_from_tables(&draws, count, (char *const *)paths, err);
    own.circle = draws.circle;
    own.circles = draws.circle != NULL ? draws.columns : 0;
    if (status == GESS_OK) status = gess__summarise_draws(&(*summary)->figures, &draws, &own, err);
    gess__draws_free(&draws);
    return finish(summary, &s, status);
}

int gess_summary_new_run(gess_summary **summary, const gess_run *run, const gess_summary_settings *settings,
                         size_t size, gess_error *err)
{
    char path[4096];
    gess_summary_settings s;
    gess__summary_settings own;
    GESS_REQUIRE(summary, err);
    *summary = NULL;
    GESS_REQUIRE(run, err);
    if (run->directory == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "gess_summary_new_run: the run has no directory, so its draws are gone");
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", path, sizeof path, err));
    int status = make(__func__, summary, settings, size, &s, &own, err);
    if (status == GESS_OK) status = gess__summary_settings_of_run(&own, run->directory, err);
    own.ensembles = run->ensembles;
    if (status == GESS_OK) status = gess__summarise_file(&(*summary)->figures, path, &own, err);
    free(own.circle);
    if (status == GESS_OK) status = gess__summary_set_stats(&(*summary)->figures, &run->stats, err);
    return finish(summary, &s, status);
}

void gess_summary_free(gess_summary *summary)
{
    if (summary == NULL) return;
    gess__summary_free(&summary->figures);
    free(summary);
}

int gess_summary_write(const gess_summary *summary, const char *directory, gess_error *err)
{
    GESS_REQUIRE(summary, err);
    GESS_REQUIRE(directory, err);
    return gess__directory_write_json(GESS__NO_FOLDER, directory, "summary.json", gess__summary_json(&summary->figures),
                                      err);
}

/* ---- reading it ---- */

static uint64_t count_of(const json_t *stats, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(stats, name));
    return value > 0 ? (uint64_t)value : 0;
}

static double number_of(const json_t *stats, const char *name)
{
    const json_t *value = json_object_get(stats, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

int gess_summary_info(const gess_summary *summary, gess_summary_stats *stats, size_t size, gess_error *err)
{
    GESS_REQUIRE(summary, err);
    GESS_REQUIRE(stats, err);
    const gess__summary *s = &summary->figures;
    const char *method = json_string_value(json_object_get(s->stats, "method"));
    gess_summary_stats all = {
        .chains = s->chains,
        .draws = s->draws,
        .ensembles = s->ensembles,
        .has_stats = s->stats != NULL,
        .evals = count_of(s->stats, "evals"),
        .evals_sampling = count_of(s->stats, "evals_sampling"),
        .evals_speculative = count_of(s->stats, "evals_speculative"),
        .updates = count_of(s->stats, "updates"),
        .failures = count_of(s->stats, "failures"),
        .nans = count_of(s->stats, "nans"),
        .warmup = count_of(s->stats, "warmup"),
        .seconds = number_of(s->stats, "seconds"),
        .seconds_sampling = number_of(s->stats, "seconds_sampling"),
        .seconds_learning = number_of(s->stats, "seconds_learning"),
        .warmup_settled = json_is_true(json_object_get(s->stats, "warmup_settled")),
        .targets_met = json_is_true(json_object_get(s->stats, "targets_met")),
        .stop_ess = number_of(s->stats, "stop_ess"),
        .stop_rhat = number_of(s->stats, "stop_rhat"),
    };
    if (method != NULL) snprintf(all.method, sizeof all.method, "%s", method);
    gess__fill_struct(stats, size, &all, sizeof all);
    return GESS_OK;
}

int gess_summary_rows(const gess_summary *summary, size_t *rows, gess_error *err)
{
    GESS_REQUIRE(summary, err);
    GESS_REQUIRE(rows, err);
    *rows = summary->figures.count - summary->figures.hidden;
    return GESS_OK;
}

int gess_summary_name(const gess_summary *summary, size_t row, char **text, gess_error *err)
{
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(summary, err);
    const gess__summary *s = &summary->figures;
    GESS_TRY(gess__check_index(__func__, "rows", row, s->count - s->hidden, err));
    return gess__copy_text(text, s->names[s->hidden + row], err);
}

int gess_summary_row(const gess_summary *summary, size_t row, gess_figures *figures, size_t size, gess_error *err)
{
    GESS_REQUIRE(summary, err);
    GESS_REQUIRE(figures, err);
    const gess__summary *s = &summary->figures;
    GESS_TRY(gess__check_index(__func__, "rows", row, s->count - s->hidden, err));
    row += s->hidden;
    const gess__figures f = gess__figures_shown(&s->figures[row]);
    gess_figures all = {
#define FIGURE(name, format, rank) .name = f.name,
        GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
            .circular = gess__is_circle(&s->circle[row]),
    };
    gess__fill_struct(figures, size, &all, sizeof all);
    return GESS_OK;
}

/* ---- text ---- */

int gess_summary_text(const gess_summary *summary, int format, size_t width, char **text, gess_error *err)
{
    gess__text out;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(summary, err);
    if (format == GESS_FORMAT_JSON) return gess__text_of_json(gess__summary_json(&summary->figures), text, err);
    if (format != GESS_FORMAT_TEXT && format != GESS_FORMAT_CSV) return gess__no_format(__func__, format, err);
    GESS_TRY(gess__text_begin(&out, err));
    if (format == GESS_FORMAT_TEXT)
        gess__summary_print_table(&summary->figures, width, out.out);
    else
        gess__summary_csv(&summary->figures, out.out);
    return gess__text_end(&out, text, err);
}

int gess_nans_text(const char *directory, char **text, gess_error *err)
{
    char path[4096], line[4096];
    gess__text out;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(directory, err);
    GESS_TRY(gess__directory_path(directory, "nans.csv", path, sizeof path, err));
    GESS_TRY(gess__text_begin(&out, err));
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        bool start = true; /* of a line */
        fprintf(out.out, "the first points at which the density was NaN (%s):\n", path);
        while (fgets(line, sizeof line, file) != NULL) {
            fprintf(out.out, "%s%s", start ? "  " : "", line);
            start = strchr(line, '\n') != NULL;
        }
        fclose(file);
    }
    return gess__text_end(&out, text, err);
}
