/* Writes progress.json. Unlike other files of a run it is not synced to the disk: what it says is soon out of date. */
#include "run/progress_file.h"

#include "base/clock.h"
#include "base/folder.h"
#include "run/directory.h"
#include "run/run.h"
#include "run/stats.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LISTED = 5, MAX_STAGES = 64, MAX_RANKS = 256 };
#define EVERY 1.0 /* seconds */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *text(const char *bytes)
{
    json_t *string = json_string(bytes);
    return string != NULL ? string : json_string("(not UTF-8)");
}

bool gess__progress_file_due(const gess_run *run)
{
    return run->directory != NULL && gess__seconds() - run->progress_file.written > EVERY;
}

void gess__progress_file_note(gess_run *run, uint64_t draws)
{
    gess__progress_file *f = &run->progress_file;
    const gess_stats *s = &run->stats;
    if (!isfinite(s->worst_rhat)) return;
    if (f->points == GESS__PROGRESS_TRAIL) { /* every second one stays */
        for (size_t i = 0; i < GESS__PROGRESS_TRAIL / 2; i++) f->trail[i] = f->trail[2 * i + 1];
        f->points /= 2;
    }
    double rhat = isfinite(s->worst_nested_rhat) ? s->worst_nested_rhat : s->worst_rhat;
    if (f->points > 0 && f->trail[f->points - 1].draws == draws) f->points--;
    f->trail[f->points++] = (gess__progress_point){draws, s->evals, s->least_ess, rhat};
}

/* ---- parts of the file ---- */

/* The parameters with the smallest ESS at the last check, if it covered all. */
static json_t *slowest(const gess_run *run)
{
    const gess__stop_rule *r = run->stop_rule != NULL ? run->stop_rule : run->monitor.rule;
    json_t *list = json_array();
    size_t listed[MAX_LISTED], found = 0;
    if (r == NULL || run->progress_file.points == 0) return list;
    for (size_t j = 0; r->all_computed && j < r->columns; j++) {
        if (!isfinite(r->ess[j])) continue;
        size_t at = found < MAX_LISTED ? found++ : found;
        for (; at > 0 && r->ess[j] < r->ess[listed[at - 1]]; at--)
            if (at < MAX_LISTED) listed[at] = listed[at - 1];
        if (at < MAX_LISTED) listed[at] = j;
    }
    if (!r->all_computed) listed[found++] = r->failed_column;
    for (size_t i = 0; i < found; i++) {
        char name[48];
        size_t j = listed[i];
        double rhat = isfinite(r->nested[j]) ? r->nested[j] : r->rhat[j];
        gess__run_name_column(run, j, name, sizeof name);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", text(name), "ess", number(r->ess[j]), "rhat",
                                              number(rhat)));
    }
    return list;
}

static json_t *trail(const gess_run *run)
{
    const gess__progress_file *f = &run->progress_file;
    json_t *list = json_array();
    for (size_t i = 0; i < f->points; i++) {
        const gess__progress_point *p = &f->trail[i];
        json_array_append_new(list, json_pack("[o, o, o, o]", count(p->draws), count(p->evals), number(p->ess),
                                              number(p->rhat)));
    }
    return list;
}

/* The last stages of warm-up: evaluations so far, and per update within the stage. */
static json_t *stages(const gess_run *run)
{
    const gess__history *h = &run->history;
    json_t *list = json_array();
    for (uint64_t i = h->stages > MAX_STAGES ? h->stages - MAX_STAGES : 0; i < h->stages; i++)
        json_array_append_new(list,
                              json_pack("[o, o]", count(h->stage[i].evals), number(h->stage[i].evals_per_update)));
    return list;
}

/* The share of the updates that each rank has made. */
static json_t *ranks(const gess_run *run, const char *host)
{
    gess__rank_share share;
    json_t *list = json_array();
    uint64_t others = 0;
    size_t n = 0;
    for (; n < MAX_RANKS && gess__coordinator_share(run->ranks, n, &share); n++) {
        others += share.updates;
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "rank", count(n + 1), "host", text(share.host),
                                              "threads", count(share.threads), "updates", count(share.updates)));
    }
    if (n == 0) return list;
    uint64_t own = run->stats.updates > others ? run->stats.updates - others : 0;
    json_array_insert_new(list, 0,
                          json_pack("{s:i, s:o, s:o, s:o}", "rank", 0, "host", text(host), "threads",
                                    count(gess__team_size(run->team)), "updates", count(own)));
    return list;
}

static json_t *targets(const gess_run *run)
{
    const gess_options *o = &run->options;
    bool fixed = o->draws != GESS_AUTO;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "ess", count(o->target_ess), "rhat", number(o->target_rhat), "draws",
                     fixed ? count(o->draws) : json_null(), "max_evals", fixed ? json_null() : count(o->max_evals),
                     "max_time", o->max_time > 0.0 ? number(o->max_time) : json_null());
}

static void add_counts(json_t *root, const gess_run *run)
{
    const gess_stats *s = &run->stats;
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"chains", s->chains},
                  {"draws", s->draws},
                  {"iterations", s->iterations},
                  {"evals", s->evals},
                  {"evals_sampling", s->evals_sampling},
                  {"updates", s->updates},
                  {"failures", s->failures},
                  {"nans", s->nans},
                  {"crashes", s->crashes},
                  {"phase_done", s->phase_done},
                  {"phase_total", s->phase_total}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(root, counts[i].key, count(counts[i].value));
    json_object_set_new(root, "seconds", number(s->seconds));
    json_object_set_new(root, "seconds_left", number(s->seconds_left));
    json_object_set_new(root, "evals_per_second", number(run->progress_file.rate));
}

static json_t *whole(gess_run *run, const char *state, const char *message)
{
    const gess_stats *s = &run->stats;
    char host[256] = "";
    struct timespec now;
    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    double time = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    const char *title = run->model->title != NULL ? run->model->title : run->model->name;
    json_t *root =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:f, s:f, s:s}", "gess", GESS_VERSION_TEXT, "state", state, "model",
                  title != NULL ? text(title) : json_null(), "host", text(host), "pid", count((uint64_t)getpid()),
                  "updated", time, "started", time - (gess__seconds() - run->started), "phase",
                  !run->sampling                ? "learning"
                  : run->progress_file.checking ? "checking"
                                                : "sampling");
    if (root == NULL) return NULL;
    add_counts(root, run);
    json_object_set_new(root, "targets", targets(run));
    json_object_set_new(root, "ess", run->progress_file.points > 0 ? number(s->least_ess) : json_null());
    json_object_set_new(root, "rhat", run->progress_file.points > 0 ? number(s->worst_rhat) : json_null());
    json_object_set_new(root, "rhat_nested",
                        run->progress_file.points > 0 ? number(s->worst_nested_rhat) : json_null());
    json_object_set_new(root, "slowest", slowest(run));
    json_object_set_new(root, "checks", trail(run));
    json_object_set_new(root, "stages", stages(run));
    json_object_set_new(root, "ranks", ranks(run, host));
    json_object_set_new(root, "message", message != NULL ? text(message) : json_null());
    return root;
}

void gess__progress_file_write(gess_run *run, const char *state, const char *message)
{
    gess__progress_file *f = &run->progress_file;
    char path[4096], temporary[4096 + 8];
    double now = gess__seconds(), passed = now - f->written;
    if (run->directory == NULL ||
        gess__directory_path(run->directory, "progress.json", path, sizeof path, NULL) != GESS_OK)
        return;
    if (f->written > 0.0 && passed > 0.1 && run->stats.evals >= f->evals) {
        double rate = (double)(run->stats.evals - f->evals) / passed;
        f->rate = f->rate > 0.0 ? 0.7 * f->rate + 0.3 * rate : rate;
    }
    f->written = now;
    f->evals = run->stats.evals;
    json_t *root = whole(run, state, message);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *out = root != NULL ? gess__folder_stream(run->folder, temporary, "w") : NULL;
    bool good =
        out != NULL && json_dumpf(root, out, JSON_COMPACT | JSON_PRESERVE_ORDER) == 0 && fputc('\n', out) != EOF;
    if (out != NULL && fclose(out) != 0) good = false;
    if (out != NULL && (!good || gess__folder_rename(run->folder, temporary, path) != 0))
        gess__folder_unlink(run->folder, temporary);
    json_decref(root);
}

void gess__progress_file_check(gess_run *run, bool begins)
{
    run->progress_file.checking = begins;
    if (!gess__progress_file_due(run)) return;
    gess__progress_estimate(run);
    gess__progress_file_write(run, "running", NULL);
}
