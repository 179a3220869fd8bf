/* Appends lines to log.txt: what a stage of warm-up found and chose, and what the helper ranks did. */
#include "run/log.h"

#include "base/clock.h"
#include "base/folder.h"
#include "base/format.h"
#include "run/directory.h"
#include "run/run.h"
#include "run/stop_check.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_RANK_LINES = 1000 };

/* Programs that compute a density say what they have to say on any thread. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void write_line(const gess_run *run, const char *path, const char *line)
{
    char seconds[32];
    FILE *file = gess__folder_stream(run->folder, path, "a");
    if (file == NULL) return;
    gess__format(seconds, sizeof seconds, "%10.3f", gess__seconds() - run->started);
    fprintf(file, "%s  %s\n", seconds, line);
    fclose(file);
}

void gess__run_log(const gess_run *run, const char *format, ...)
{
    char path[4096], line[2048];
    if (run->directory == NULL && run->on_log == NULL) return;
    va_list args;
    va_start(args, format);
    gess__vformat(line, sizeof line, format, args);
    va_end(args);
    if (run->on_log != NULL) {
        pthread_mutex_lock(&one_at_a_time);
        run->on_log(run->on_log_user, line);
        pthread_mutex_unlock(&one_at_a_time);
    }
    if (run->directory == NULL || gess__directory_path(run->directory, "log.txt", path, sizeof path, NULL) != GESS_OK)
        return;
    write_line(run, path, line);
}

/* What exploration has found so far. */
static void log_exploration(const gess_run *run, const gess__exploration *x, unsigned stages)
{
    const gess__annealing_state *a = &x->annealing->state;
    const gess__scout_state *t = x->scout != NULL ? &x->scout->state : NULL;
    const gess__maxima_state *s = x->annealing->maxima != NULL ? &x->annealing->maxima->state : NULL;
    if (stages == 1 && t != NULL && t->done)
        gess__run_log(run, "    test for several basins: unexplained points %llu, ascents %llu, evaluations %llu: %s",
                      (unsigned long long)t->unexplained, (unsigned long long)t->ascents, (unsigned long long)t->evals,
                      t->several ? "another maximum beyond a valley, so warm-up goes on by annealing"
                                 : "no other maximum");
    if (a->abandoned && stages == (unsigned)(t != NULL && t->several) + 1)
        gess__run_log(run, "    annealing was abandoned: %s",
                      a->why == GESS__TOO_SHORT ? "warm-up ended before it began"
                                                : "hardly a point of the reference is inside the support");
    if (a->under_way || (a->done && stages == a->last_stage))
        gess__run_log(run, "    annealing: power %.6g after %u steps, %llu clusters, log Z %.4f",
                      a->powers > 0 ? a->power[a->powers - 1] : 0.0, a->steps, (unsigned long long)a->clusters,
                      a->log_z);
    if (a->under_way && !a->searched && a->ascents > 0 && s != NULL)
        gess__run_log(
            run, "    ascents from particles that no maximum explained: %llu so far, %llu evaluations, %llu maxima",
            (unsigned long long)a->ascents, (unsigned long long)a->ascent_evals, (unsigned long long)s->count);
    if (a->under_way && a->searched && s != NULL)
        gess__run_log(run, "    ascents from points that T did not cover: %llu, %llu evaluations, %llu maxima",
                      (unsigned long long)s->ascents, (unsigned long long)s->evals, (unsigned long long)s->count);
    if (x->rare.stage == stages && stages > 0 && s != NULL)
        gess__run_log(run, "    ascents from points that T covers least: %llu; basins found so far: %llu",
                      (unsigned long long)s->ascents, (unsigned long long)x->rare.found);
    for (size_t k = 0; a->done && stages == a->last_stage && k < a->weighed; k++)
        if (a->given_up[k])
            gess__run_log(run, "    a mode was given up: its weight is %.2g (error %.1g)", a->weight[k],
                          a->weight_error[k]);
    for (size_t k = 0; x->basins->count > 1 && k < x->basins->count; k++)
        if (x->basins->basin[k].held > 0 && (stages == a->last_stage || x->basins->basin[k].restored > 0))
            gess__run_log(run,
                          "    basin %zu: weight %.4f (error %.4f), highest log density %.4f, component restored %llu "
                          "times",
                          k + 1, x->basins->basin[k].weight, x->basins->basin[k].error, x->basins->basin[k].value,
                          (unsigned long long)x->basins->basin[k].restored);
}

/* The forecast after a stage, and how a trial ended. */
static void log_economy(const gess_run *run, const gess__warmup *u, uint64_t evals)
{
    static const char *const results[] = {"", "committed to this T", "the chains drift: learning goes on",
                                          "slower than forecast: learning goes on",
                                          "a basin was found or lost: learning goes on"};
    const gess__economy *e = &u->economy;
    if (e->result != GESS__TRIAL_NONE)
        gess__run_log(run,
                      "    trial %u: drift %.1f standard errors (limit %.1f), slowest autocorrelation time %.1f "
                      "iterations, %.3f draws per evaluation: %s",
                      e->trials, e->drift, e->max_drift, e->slowest, e->measured_rate, results[e->result]);
    if (u->over || u->fixed != GESS_AUTO || !(e->rate > 0.0)) return;
    gess__run_log(run,
                  "    economy: sampling with this T would take %.0f evaluations at %.3f draws per evaluation; %llu "
                  "spent so far, the next stage would take %.0f: %s",
                  e->forecast, e->rate, (unsigned long long)evals, e->next,
                  e->trial ? "T is tried" : "learning goes on");
}

/* What `auto` has learned and chosen so far; other schedules have no mixture, and no such lines. */
static void log_choices(const gess_run *run, const gess__sampler *s)
{
    const gess__frozen *f = &s->ensemble.frozen;
    const gess__warmup *u = &s->adaptation.warmup;
    char map[256] = "none";
    if (f->mixture == NULL) return;
    const gess__learning_state *l = &gess__sampler_learning(s)->state;
    if (u->stages == 1 && l->laplace_evals > 0)
        gess__run_log(run, "    Laplace approximation: %llu evaluations, %s", (unsigned long long)l->laplace_evals,
                      l->laplace_found || gess__sampler_exploration(s)->annealing->state.laplace[0]
                          ? "found a maximum: T may come from the curvature there"
                          : "found no maximum");
    log_exploration(run, gess__sampler_exploration(s), u->stages);
    log_economy(run, u, s->ensemble.tally.evals);
    if (u->over && l->tail_excess > 0.0 && run->stop_rule != NULL)
        gess__run_log(run, "    tails: draws there are %.2f nats above T, so there are at least %llu draws per chain",
                      l->tail_excess, (unsigned long long)gess__targets_first_check(run));
    if (f->map != NULL) gess__learned_describe(f->map, map, sizeof map);
    gess__run_log(run,
                  "    map searches %llu: map %s (gain %.4f); components %zu (gain %.4f); independence moves %u of %u "
                  "(acceptance %.3f expected, %.3f in this stage; draws per evaluation: %.3f, ellipses only: %.3f)",
                  (unsigned long long)l->searches, map, l->map_gain, f->mixture->count - f->mixture->defensive,
                  l->mixture_gain, f->moves.independence, f->moves.period, l->acceptance, u->accepted, l->independence,
                  l->ellipse);
}

void gess__run_log_stage(const gess_run *run, size_t which, const gess__sampler *s)
{
    static const gess__learning_state nothing;
    const gess__ensemble *e = &s->ensemble;
    const gess__warmup *u = &s->adaptation.warmup;
    const gess__learning *learning = gess__sampler_learning(s);
    const gess__learning_state *l = learning != NULL ? &learning->state : &nothing;
    gess__run_log(run,
                  "ensemble %zu, stage %u: iterations %llu, evaluations %llu, %.3f per update, nu %.4g, score %.4f, "
                  "gain %.4f, gap %.4f, shrinkage %g%s, mean log density %.4f%s%s",
                  which + 1, u->stages, (unsigned long long)gess__ensemble_done(e), (unsigned long long)e->tally.evals,
                  u->evals_per_update, e->frozen.approx->nu, l->score, l->gain, l->gap, l->shrinkage,
                  l->shrunk_to_laplace ? " towards the Laplace approximation" : "", u->mean_value,
                  u->moved ? ", moving" : "", l->by_laplace ? ", T is the Laplace approximation" : "");
    log_choices(run, s);
}

void gess__run_log_ranks(const gess_run *run)
{
    char text[512];
    for (size_t i = 0; i < MAX_RANK_LINES && gess__coordinator_describe(run->ranks, i, text, sizeof text); i++)
        gess__run_log(run, "%s", text);
}
