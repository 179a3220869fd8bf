/* Draws a figure of a run into a file: chooses parameters, reads their draws, adds true values and priors. */
#include "base/mem.h"
#include "report/plots.h"
#include "run/directory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 400, MOST_IN_CORNER = 12, HELD = 1 << 25, MOST_DRAWS = 1 << 19 };

typedef struct plot {
    const char *name, *help;
    size_t usual; /* parameters at most, if none are named */
    int (*draw)(gess__canvas **canvas, const gess__figure *figure, gess_error *err);
} plot;

static const plot plots[] = {
#define GESS_PLOT(identifier, usual, help) {#identifier, help, usual, gess__plot_##identifier},
#include "report/plots.def"
#undef GESS_PLOT
};
enum { PLOTS = sizeof plots / sizeof *plots };

const char *gess__plot_name(size_t i, const char **help)
{
    if (i >= PLOTS) return NULL;
    *help = plots[i].help;
    return plots[i].name;
}

static int find_plot(const char *name, const plot **found, gess_error *err)
{
    char list[200] = "";
    for (size_t i = 0; i < PLOTS; i++) {
        if (strcmp(plots[i].name, name) == 0) {
            *found = &plots[i];
            return GESS_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : i + 1 < PLOTS ? ", " : " or ", plots[i].name);
    }
    return gess__fail(err, GESS_ERR_USAGE, "there is no plot `%.60s`; choose %s", name, list);
}

typedef struct work {
    const char *directory;
    const plot *plot;
    const gess__plot_wishes *wishes;
    gess__reader *draws;
    gess__summary summary;
    gess__plot_data data;
    size_t *rows, count;
    char *notes;
    size_t size;
} work;

static void note(work *w, const char *format, size_t a, size_t b)
{
    size_t used = strlen(w->notes);
    if (used < w->size) snprintf(w->notes + used, w->size - used, format, a, b);
}

static int choose(work *w, gess_error *err)
{
    const gess__summary *s = &w->summary;
    size_t all = s->count - s->hidden;
    bool corner = strcmp(w->plot->name, "corner") == 0, forest = strcmp(w->plot->name, "forest") == 0;
    GESS_ALLOC(&w->rows, s->count, err);
    if (w->wishes->variables != NULL)
        return gess__plot_choose_named(s, w->wishes->variables, corner ? MOST_IN_CORNER : MOST_NAMED, w->rows,
                                       &w->count, err);
    if (corner) {
        GESS_TRY(gess__plot_choose_corner(w->draws, s, w->plot->usual, w->rows, &w->count, err));
        if (w->count + 1 < all)
            note(w, "%zu of %zu: the most correlated and the slowest; --vars chooses others\n", w->count, all - 1);
        return GESS_OK;
    }
    w->count = gess__plot_choose_worst(s, w->plot->usual, !forest, w->rows);
    if (w->count == w->plot->usual && w->count + 1 < all)
        note(w, "%zu of %zu: those with the largest R-hat; --vars chooses others\n", w->count, all);
    return GESS_OK;
}

static int add_truth(work *w, gess_error *err)
{
    double *truth = NULL;
    GESS_ALLOC(&truth, w->summary.count, err);
    int status = gess__read_truth(w->wishes->truth, &w->summary, truth, err);
    for (size_t i = 0; status == GESS_OK && i < w->count; i++) w->data.parameter[i].truth = truth[w->rows[i]];
    free(truth);
    return status;
}

static int gather(work *w, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(w->directory, "draws.gess", path, sizeof path, err));
    GESS_TRY(gess__reader_open(&w->draws, path, err));
    if (w->draws->draws < 4)
        return gess__fail(err, GESS_ERR_USAGE, "%s has %llu draws per chain: too few for a plot", w->directory,
                          (unsigned long long)w->draws->draws);
    GESS_TRY(gess__summarise_run(&w->summary, w->directory, (gess__summary_settings){0}, err));
    GESS_TRY(choose(w, err));
    if (w->count == 0) return gess__fail(err, GESS_ERR_USAGE, "%s has no parameters to plot", w->directory);
    size_t most = HELD / w->count < MOST_DRAWS ? HELD / w->count : MOST_DRAWS;
    GESS_TRY(gess__plot_data_read(&w->data, w->draws, &w->summary, w->count, w->rows, most, err));
    if (w->wishes->truth != NULL) GESS_TRY(add_truth(w, err));
    if (!w->wishes->prior) return GESS_OK;
    size_t without = 0;
    GESS_TRY(gess__plot_priors(&w->data, w->directory, w->draws, &w->summary, w->rows, &without, err));
    if (without > 0)
        note(w, "no prior is drawn for %zu of %zu parameters: it depends on the others, or has no finite integral\n",
             without, w->count);
    return GESS_OK;
}

static int draw(work *w, const char *path, gess_error *err)
{
    char title[300];
    gess__canvas *canvas = NULL;
    snprintf(title, sizeof title, "%s of %.200s", w->plot->name, w->directory);
    gess__figure figure = {.title = title,
                           .count = w->count,
                           .parameter = w->data.parameter,
                           .moments = w->wishes->moments};
    GESS_TRY(w->plot->draw(&canvas, &figure, err));
    int status = gess__canvas_write(canvas, path, err);
    gess__canvas_free(canvas);
    return status;
}

int gess__plot_run(const char *directory, const char *kind, const char *path, const gess__plot_wishes *wishes,
                   char *notes, size_t size, gess_error *err)
{
    work w = {.directory = directory, .wishes = wishes, .notes = notes, .size = size};
    notes[0] = '\0';
    GESS_TRY(find_plot(kind, &w.plot, err));
    GESS_TRY(gess__canvas_ending(path, err));
    int status = gather(&w, err);
    if (status == GESS_OK) status = draw(&w, path, err);
    gess__plot_data_free(&w.data);
    gess__summary_free(&w.summary);
    gess__reader_free(w.draws);
    free(w.rows);
    return status;
}
