/* Makes, runs and saves samplers: looks up the schedule, asks it for the next stretch, runs stretches up to an
 * iteration, and runs stages of warm-up. What differs between schedules is in their files. */
#include "base/assert.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "chains/starts.h"
#include "schedule/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of schedules ---- */

#define GESS_SCHEDULE(name) extern const gess__schedule gess__schedule_##name;
#include "schedule/schedules.def"
#undef GESS_SCHEDULE

static const gess__schedule *const table[] = {
#define GESS_SCHEDULE(name) &gess__schedule_##name,
#include "schedule/schedules.def"
#undef GESS_SCHEDULE
};

const gess__schedule *gess__schedule_row(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i] : NULL;
}

const gess__schedule *gess__schedule_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

/* Adds a name to a list in words[size], after a comma if it is not the first. */
static void add_name(char *words, size_t size, const char *name)
{
    size_t used = strlen(words);
    snprintf(words + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

static int no_such_schedule(const char *name, gess_error *err)
{
    gess__nearest nearest = {.word = name};
    char hint[128], names[512] = "";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gess__nearest_offer(&nearest, table[i]->name);
        add_name(names, sizeof names, table[i]->name);
    }
    return gess__fail(err, GESS_ERR_USAGE, "--schedule %.100s: no such schedule%s; there are %s", name,
                      gess__did_you_mean(&nearest, hint), names);
}

static int no_such_kernel(const char *name, gess_error *err)
{
    gess__nearest nearest = {.word = name};
    char hint[128], names[512] = "";
    const gess__kernel *row;
    for (size_t i = 0; (row = gess__kernel_row(i)) != NULL; i++) {
        gess__nearest_offer(&nearest, row->name);
        add_name(names, sizeof names, row->name);
    }
    return gess__fail(err, GESS_ERR_USAGE, "--kernel %.100s: no such kernel%s; there are %s", name,
                      gess__did_you_mean(&nearest, hint), names);
}

/* ---- making and freeing ---- */

/* `auto` means `independent` for a kernel without an approximation. */
static int choose_schedule(gess__sampler *s, const gess__kernel *kernel, const char *name, gess_error *err)
{
    int no_approx = !(kernel->needs & GESS__NEEDS_APPROX);
    s->schedule = gess__schedule_find(no_approx && strcmp(name, "auto") == 0 ? "independent" : name);
    if (s->schedule == NULL) return no_such_schedule(name, err);
    if (no_approx && !s->schedule->no_approx)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--schedule %s is about an approximation, and the kernel %s has none; use --schedule auto",
                          name, kernel->name);
    if (!no_approx && s->schedule->no_approx)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--schedule %s fits no approximation, and the kernel %s needs one; use --kernel mh, or "
                          "another schedule",
                          name, kernel->name);
    return GESS_OK;
}

static int choose_methods(gess__sampler *s, const gess_options *options, gess__ensemble_settings *settings,
                          gess_error *err)
{
    settings->kernel = gess__kernel_find(options->kernel);
    if (settings->kernel == NULL) return no_such_kernel(options->kernel, err);
    GESS_TRY(choose_schedule(s, settings->kernel, options->schedule, err));
    if (settings->chains < s->schedule->min_chains)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--chains %llu: the %s schedule needs at least %zu chains in each of %llu ensemble%s; use "
                          "more",
                          (unsigned long long)options->chains, s->schedule->name, s->schedule->min_chains,
                          (unsigned long long)options->ensembles, options->ensembles == 1 ? "" : "s");
    settings->learns_map = s->schedule->learns_map;
    settings->mixture = s->schedule->mixture;
    settings->anneals = s->schedule->anneals;
    settings->tempered = s->schedule->tempered;
    return GESS_OK;
}

int gess__sampler_make(gess__sampler **sampler, const gess_model *model, const gess_options *options, size_t first,
                       size_t chains, gess__team *team, gess_error *err)
{
    gess__ensemble_settings settings = {.first = first, .chains = chains};
    GESS_ALLOC(sampler, 1, err);
    gess__sampler *s = *sampler;
    GESS_TRY(choose_methods(s, options, &settings, err));
    GESS_TRY(gess__ensemble_init(&s->ensemble, model, options, &settings, team, err));
    GESS_TRY(gess__adaptation_open(&s->adaptation, &s->ensemble, options, s->schedule->fits_points, err));
    s->ensemble.rebind = 1;
    return s->schedule->open(s, options, err);
}

int gess__sampler_new(gess__sampler **sampler, const gess_model *model, const gess_options *options, size_t first,
                      size_t chains, gess__team *team, gess_error *err)
{
    GESS_TRY(gess__sampler_make(sampler, model, options, first, chains, team, err));
    gess__ensemble *e = &(*sampler)->ensemble;
    GESS_TRY(gess__starts(&e->target, e->seed, options, &e->chains, &e->tally, err));
    if ((*sampler)->schedule->started != NULL) (*sampler)->schedule->started(*sampler);
    return GESS_OK;
}

void gess__sampler_free(gess__sampler *s)
{
    if (s == NULL) return;
    if (s->ensemble.team != NULL) gess__ensemble_settle(&s->ensemble);
    if (s->schedule != NULL && s->schedule->free != NULL && s->state != NULL) s->schedule->free(s->state);
    gess__adaptation_free(&s->adaptation);
    gess__ensemble_free(&s->ensemble);
    free(s);
}

/* ---- running ---- */

void gess__sampler_next(gess__sampler *s, uint64_t until, gess__stretch *stretch)
{
    int warming = !s->adaptation.warmup.over;
    s->schedule->next(s, until, stretch);
    stretch->phase = s->never_adapt ? GESS__FROZEN : warming ? GESS__WARMING : GESS__SAMPLING;
    stretch->warmup = gess__warmup_min_iterations(&s->adaptation);
    if (warming && !s->adaptation.warmup.exploring) stretch->collect = gess__window_collect(&s->adaptation.window);
}

int gess__sampler_run(gess__sampler *s, gess__stretch *stretch, const gess__record *record, gess_error *err)
{
    GESS_TRY(gess__ensemble_run(&s->ensemble, stretch, record, err));
    s->schedule->ran(s, stretch);
    return GESS_OK;
}

static int advance(gess__sampler *s, uint64_t until, const gess__record *record, gess_error *err)
{
    enum { TIMING_ITERATIONS = 4 }; /* of a first stretch, to measure time by */
    const gess__ensemble *e = &s->ensemble;
    /* groups that take turns are stopped between sweeps only, so that every chain is equally far */
    gess__record whole = *record;
    if (e->group > 0) whole.stop = NULL;
    for (;;) {
        gess__stretch stretch;
        int between = e->group == 0 || e->done[0] == e->done[1];
        /* before `next`, which may fit: a fit that is not used would be lost */
        if (between && record->stop != NULL && atomic_load(record->stop) && gess__ensemble_done(e) < until)
            return gess__fail(err, GESS_ERR_STOPPED, "stopped");
        gess__sampler_next(s, until, &stretch);
        if (stretch.count == 0) return GESS_OK;
        if (gess__ensemble_untimed(e) && stretch.iterations > TIMING_ITERATIONS) stretch.iterations = TIMING_ITERATIONS;
        GESS_TRY(gess__sampler_run(s, &stretch, &whole, err));
    }
}

/* Waits at the end for speculative evaluations that nobody uses, not between stretches: the caller may change the map
 * or free what the density works on. */
int gess__sampler_advance(gess__sampler *s, uint64_t until, const gess__record *record, gess_error *err)
{
    int status = advance(s, until, record, err);
    gess__ensemble_settle(&s->ensemble);
    return status;
}

/* ---- warm-up ---- */

static int stage_advance(void *self, uint64_t until, const gess__record *record, gess_error *err)
{
    return gess__sampler_advance(self, until, record, err);
}

static int stage_probe(void *self, const gess__record *record, gess_error *err)
{
    gess__sampler *s = self;
    return s->schedule->probe != NULL ? s->schedule->probe(s, record, err) : GESS_OK;
}

static int stage_assess(void *self)
{
    gess__sampler *s = self;
    return s->schedule->assess(s);
}

int gess__sampler_warm_up(gess__sampler *s, const gess__record *record, gess_error *err)
{
    static const gess__stage_steps steps = {.advance = stage_advance, .probe = stage_probe, .assess = stage_assess};
    int busy = 0;
    if (s->schedule->explore != NULL) GESS_TRY(s->schedule->explore(s, record, &busy, err));
    if (busy) return GESS_OK;
    GESS_TRY(gess__warmup_stage(&s->adaptation, &steps, s, record, err));
    if (s->adaptation.warmup.over && s->schedule->ended != NULL) s->schedule->ended(s);
    return GESS_OK;
}

const gess__learning *gess__sampler_learning(const gess__sampler *s)
{
    return s->schedule->learning != NULL ? s->schedule->learning(s) : NULL;
}

const gess__exploration *gess__sampler_exploration(const gess__sampler *s)
{
    return s->schedule->exploration != NULL ? s->schedule->exploration(s) : NULL;
}

/* ---- checkpoints ---- */

void gess__sampler_archive(gess__sampler *s, gess__archive *a)
{
    gess__archive_expect_text(a, s->schedule->name);
    gess__ensemble_archive(&s->ensemble, a);
    gess__frozen_archive(&s->ensemble.frozen, a);
    gess__adaptation_archive(&s->adaptation, a);
    if (s->schedule->archive != NULL && !a->bad) s->schedule->archive(s, a);
}
