#include "run/log.h"

#include "base/clock.h"
#include "run/directory.h"
#include "run/run.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_RANK_LINES = 1000 };

void gess__run_log(const gess_run *run, const char *format, ...)
{
    char path[4096];
    if (run->directory == NULL || gess__directory_path(run->directory, "log.txt", path, sizeof path, NULL) != GESS_OK)
        return;
    FILE *file = fopen(path, "a");
    if (file == NULL) return;
    fprintf(file, "%10.3f  ", gess__seconds() - run->started);
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}

/* What `auto` has learned and chosen so far; other schedules have no mixture, and no such lines. */
static void log_choices(const gess_run *run, const gess__ensemble *e)
{
    const gess__warmup *u = &e->warmup;
    char map[256] = "none";
    if (e->mixture == NULL) return;
    if (u->stages == 1 && u->climbed > 0)
        gess__run_log(run, "    Laplace approximation: %llu evaluations, %s", (unsigned long long)u->climbed,
                      u->summit ? "found a maximum: T may come from the curvature there" : "found no maximum");
    if (e->target.learned != NULL) gess__learned_describe(e->target.learned, map, sizeof map);
    gess__run_log(run,
                  "    map searches %llu: map %s (gain %.4f); components %zu (gain %.4f); independence moves %u of %u "
                  "(acceptance %.3f expected, %.3f in this stage; draws per evaluation: %.3f, ellipses only: %.3f)",
                  (unsigned long long)u->refines, map, u->map_gain, e->mixture->count, u->mixture_gain, e->globals,
                  e->period, u->acceptance, u->accepted, u->independence, u->ellipse);
}

void gess__run_log_stage(const gess_run *run, size_t which, const gess__ensemble *e)
{
    const gess__warmup *u = &e->warmup;
    gess__run_log(run,
                  "ensemble %zu, stage %u: iterations %llu, evaluations %llu, %.3f per update, nu %.4g, score %.4f, "
                  "gain %.4f, gap %.4f, shrinkage %g%s, mean log density %.4f%s%s",
                  which + 1, u->stages, (unsigned long long)gess__ensemble_done(e), (unsigned long long)e->tally.evals,
                  u->each, e->approx->nu, u->score, u->gain, u->gap, u->shrinkage,
                  u->leans ? " towards the Laplace approximation" : "", u->mean_value, u->moved ? ", moving" : "",
                  u->by_summit ? ", T is the Laplace approximation" : "");
    log_choices(run, e);
}

void gess__run_log_ranks(const gess_run *run)
{
    char text[512];
    for (size_t i = 0; i < MAX_RANK_LINES && gess__coordinator_describe(run->ranks, i, text, sizeof text); i++)
        gess__run_log(run, "%s", text);
}
