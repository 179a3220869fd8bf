#include "run/log.h"

#include "base/clock.h"
#include "run/directory.h"
#include "run/run.h"

#include <stdarg.h>
#include <stdio.h>

void gess__run_log(const gess_run *run, const char *format, ...)
{
    char path[4096];
    if (run->directory == NULL || gess__directory_path(run->directory, "log.txt", path, sizeof path, NULL) != GESS_OK)
        return;
    FILE *file = fopen(path, "a"); /* a log that cannot be written must not end a run */
    if (file == NULL) return;
    fprintf(file, "%10.3f  ", gess__seconds() - run->started);
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}

/* What `auto` has chosen so far. */
void gess__run_log_choice(const gess_run *run, const gess__ensemble *e)
{
    const gess__warmup *u = &e->warmup;
    char map[256] = "none";
    if (e->mixture == NULL) return;
    if (u->stages == 1 && u->climbed > 0)
        gess__run_log(run, "    climb: %llu evaluations, %s", (unsigned long long)u->climbed,
                      u->summit ? "to a summit: T may come from the curvature there" : "no summit");
    if (e->target.learned != NULL) gess__learned_describe(e->target.learned, map, sizeof map);
    gess__run_log(run,
                  "    refinements %llu: map %s (gain %.4f); components %zu (gain %.4f); independence moves %u of %u "
                  "(accepted %.3f expected, %.3f in this stage; draws an evaluation: %.3f, ellipses %.3f)",
                  (unsigned long long)u->refines, map, u->map_gain, e->mixture->count, u->mixture_gain, e->globals,
                  e->period, u->acceptance, u->accepted, u->independence, u->ellipse);
}

/* What the other ranks did. */
void gess__run_log_ranks(const gess_run *run)
{
    char text[512];
    for (size_t i = 0; i < 1000 && gess__coordinator_describe(run->ranks, i, text, sizeof text); i++)
        gess__run_log(run, "%s", text);
}
