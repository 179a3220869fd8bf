/* A program for version 1 of the interface: options by name, a model of a gess_density, a run with all callbacks,
 * statistics, a summary. Built with the headers in include/, or, with SHORTER, with structs that lack their last
 * fields. It fails if the library writes beyond the structs that it knows.
 *
 *   client DIR */
#include <gess/draws.h>
#include <gess/gess.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct seen {
    uint64_t rows;
    int progress, lines, wrong;
} seen;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        values[i] = 0.0;
        for (size_t k = 0; k < dim; k++) values[i] -= 0.5 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}

static int on_draw(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                   const double *rows)
{
    seen *s = user;
    (void)first_chain, (void)first_draw;
    s->rows += chains * draws;
    for (size_t i = 0; i < chains * draws; i++)
        if (!(rows[i * columns] <= 0.0) || columns != 3) s->wrong++;
    return 0;
}

static int on_progress(void *user, const gess_stats *stats, uint64_t planned)
{
    seen *s = user;
    (void)planned;
    s->progress++;
    if (stats->dim != 2) s->wrong++;
    return 0;
}

static void on_log(void *user, const char *line)
{
    seen *s = user;
    s->lines += strlen(line) > 0;
}

static int set_options(gess_options *options, gess_error *err)
{
    static const char *const pairs[][2] = {{"draws", "200"}, {"chains", "16"},   {"seed", "7"},
                                           {"threads", "1"}, {"kernel", "gess"}, {"warmup", "100"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int status = gess_options_set(options, pairs[i][0], pairs[i][1], err);
        if (status != GESS_OK) return status;
    }
    return GESS_OK;
}

/* The statistics, with bytes behind them that must stay as they are. */
static int print_stats(const gess_run *run, gess_error *err)
{
    struct {
        gess_stats stats;
        unsigned char guard[256];
    } room;
    memset(&room, 0xa5, sizeof room);
    int status = gess_run_stats(run, &room.stats, sizeof room.stats, err);
    if (status != GESS_OK) return status;
    for (size_t i = 0; i < sizeof room.guard; i++)
        if (room.guard[i] != 0xa5) return GESS_ERR_INTERNAL;
    printf("%zu chains, %" PRIu64 " draws, %" PRIu64 " evaluations\n", room.stats.chains, room.stats.draws,
           room.stats.evals);
#ifndef SHORTER
    if (!room.stats.finished) return GESS_ERR_INTERNAL;
#endif
    return room.stats.dim == 2 && room.stats.draws == 200 ? GESS_OK : GESS_ERR_INTERNAL;
}

static int print_summary(const gess_run *run, gess_error *err)
{
    gess_summary *summary = NULL;
    gess_figures figures;
    char *name = NULL;
    int status = gess_summary_new_run(&summary, run, NULL, 0, err);
    if (status == GESS_OK) status = gess_summary_row(summary, 0, &figures, sizeof figures, err);
    if (status == GESS_OK) status = gess_summary_name(summary, 0, &name, err);
    if (status == GESS_OK) printf("%s: mean %.6f, R-hat %.4f\n", name, figures.mean, figures.r_hat);
    gess_text_free(name);
    gess_summary_free(summary);
    return status;
}

static int sample(const gess_model *model, const gess_options *options, const char *directory, gess_error *err)
{
    gess_run *run = NULL;
    seen s = {0};
    int status = gess_run_new(&run, model, options, directory, err);
    if (status == GESS_OK) status = gess_run_on_draw(run, on_draw, &s, err);
    if (status == GESS_OK) status = gess_run_on_progress(run, on_progress, &s, err);
    if (status == GESS_OK) status = gess_run_on_log(run, on_log, &s, err);
    if (status == GESS_OK) status = gess_run_go(run, err);
    if (status == GESS_OK) status = print_stats(run, err);
    if (status == GESS_OK) status = print_summary(run, err);
    gess_run_free(run);
    if (status == GESS_OK && (s.rows != 16 * 200 || s.progress == 0 || s.lines == 0 || s.wrong > 0)) {
        fprintf(stderr, "%" PRIu64 " rows, %d calls of progress, %d lines, %d mistakes\n", s.rows, s.progress, s.lines,
                s.wrong);
        return GESS_ERR_INTERNAL;
    }
    return status;
}

int main(int argc, char **argv)
{
    /* bytes behind the density that a library with more fields must not take for them */
    struct {
        gess_density density;
        unsigned char behind[256];
    } room;
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_error err = {0};
    if (argc != 2) return GESS_ERR_USAGE;
    memset(&room, 0xa5, sizeof room);
    memset(&room.density, 0, sizeof room.density);
    room.density.size = sizeof room.density;
    room.density.name = "v1";
    room.density.dim = 2;
    room.density.logp = logp;
    int status = gess_model_new(&model, &room.density, &err);
    if (status == GESS_OK) status = gess_options_new(&options, &err);
    if (status == GESS_OK) status = set_options(options, &err);
    if (status == GESS_OK) status = sample(model, options, argv[1], &err);
    gess_options_free(options);
    gess_model_free(model);
    if (status != GESS_OK) fprintf(stderr, "client: status %d: %s\n", status, err.text);
    return status;
}
