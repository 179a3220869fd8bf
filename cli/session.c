/* Runs a run in the terminal, for `sample` and `resume`: shows progress, stops at signals, and prints the summary at
 * the end. */
#include "command.h"
#include "launch.h"
#include "progress.h"
#include "supervise.h"

#include <gess/draws.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- signals: the first stops the run with a checkpoint, the second ends the process ---- */

static gess_run *signalled;
static volatile sig_atomic_t signals;
static const int caught[] = {SIGINT, SIGTERM, SIGUSR1};

static volatile double first_signal;

/* Monotonic. */
static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of several processes only the first one reacts to a second signal. Launchers, and a signal to a whole process group,
 * bring the same signal twice. */
static int is_repeated(void)
{
    double since = seconds_now() - first_signal;
    return launch_comm() != NULL ? launch_rank() > 0 || since < 1.0 : since < 0.1;
}

static void on_signal(int number)
{
    if (signals++ == 0) {
        first_signal = seconds_now();
        gess_stop(signalled);
        return;
    }
    if (is_repeated()) return;
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(gess_run *run)
{
    signalled = run;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], run != NULL ? on_signal : SIG_DFL);
}

/* ---- the session ---- */

int open_model(gess_model **model, const char *specification, const gess_options *options, gess_error *err)
{
    char data[4096];
    TRY(gess_options_get(options, "data", data, sizeof data, err));
    int status = gess_model_open(model, specification, data[0] != '\0' ? data : NULL, err);
    supervised_opened();
    return status;
}

static bool is_auto(const gess_options *options, const char *name)
{
    char text[64];
    return gess_options_get(options, name, text, sizeof text, NULL) == GESS_OK && strcmp(text, "auto") == 0;
}

/* How warm-up and sampling ended, if gess decided that. */
static void print_ending(const gess_stats *s, const gess_options *o, int stopped)
{
    bool warmup = is_auto(o, "warmup");
    if (warmup && s->warmup_settled)
        printf("warm-up ended itself after %llu iterations\n", (unsigned long long)s->warmup);
    else if (warmup)
        printf("warm-up reached its limit of evaluations after %llu iterations while still improving\n",
               (unsigned long long)s->warmup);
    if (s->method[0] != '\0') printf("%s\n", s->method);
    if (!is_auto(o, "draws") || stopped) return;
    char rhat[80];
    if (isfinite(s->worst_nested_rhat))
        snprintf(rhat, sizeof rhat, "nested R-hat %.4f (of single chains %.4f)", s->worst_nested_rhat, s->worst_rhat);
    else
        snprintf(rhat, sizeof rhat, "R-hat %.4f", s->worst_rhat);
    if (s->targets_met)
        printf("targets met: smallest bulk ESS %.0f, worst %s\n", s->least_ess, rhat);
    else
        printf("TARGETS NOT MET: smallest bulk ESS %.0f, worst %s; do not trust these figures yet: allow "
               "more with %s\n",
               s->least_ess, rhat, warmup && !s->warmup_settled ? "--max-warmup-evals and --max-evals" : "--max-evals");
}

/* The worst finding of `gess diagnose`, if the run fails. */
static int print_failure(const gess_summary *summary, const char *directory, gess_error *err)
{
    gess_verdict *verdict = NULL;
    gess_verdict_result result;
    gess_finding worst;
    int status = gess_verdict_new(&verdict, directory, summary, err);
    if (status == GESS_OK) status = gess_verdict_info(verdict, &result, sizeof result, err);
    if (status == GESS_OK && !result.pass) {
        status = gess_verdict_finding(verdict, 0, &worst, sizeof worst, err);
        char *quoted = NULL;
        if (status == GESS_OK) status = gess_text_quote(directory, &quoted, err);
        if (status == GESS_OK) printf("DO NOT TRUST THIS YET: %s (`gess diagnose %s` says more)\n", worst.text, quoted);
        gess_text_free(quoted);
    }
    gess_verdict_free(verdict);
    return status;
}

/* The line that --evidence or --target-evidence-error asks for. */
static int write_evidence(gess_run *run, const gess_options *options, const char *directory, int quiet, gess_error *err)
{
    char wanted[64], target[64];
    gess_evidence *evidence = NULL;
    gess_evidence_result r = {0};
    gess_finding reason;
    TRY(gess_options_get(options, "evidence", wanted, sizeof wanted, err));
    TRY(gess_options_get(options, "target-evidence-error", target, sizeof target, err));
    if (strcmp(wanted, "1") != 0 && strtod(target, NULL) == 0.0) return GESS_OK;
    TRY(gess_evidence_new(&evidence, run, NULL, 0, err));
    if (evidence == NULL) return GESS_OK; /* a rank above 0 */
    int status = gess_evidence_info(evidence, &r, sizeof r, err);
    if (status == GESS_OK && !quiet && !r.refused)
        printf("log evidence %.4f ± %.4f, for %llu evaluations more; second estimate %.4f ± %.4f: they agree\n",
               r.log_evidence, r.se, (unsigned long long)r.evals, r.second_log_evidence, r.second_se);
    if (status == GESS_OK && !quiet && r.refused) {
        char *quoted = NULL;
        status = gess_evidence_reason(evidence, 0, &reason, sizeof reason, err);
        if (status == GESS_OK) status = gess_text_quote(directory, &quoted, err);
        if (status == GESS_OK) printf("NO LOG EVIDENCE: %s (`gess evidence %s` says more)\n", reason.text, quoted);
        gess_text_free(quoted);
    }
    gess_evidence_free(evidence);
    return status;
}

static int print_summary(const gess_summary *summary, const gess_stats *stats, const gess_options *options,
                         const char *directory, gess_error *err)
{
    char *text = NULL;
    TRY(gess_summary_text(summary, GESS_FORMAT_TEXT, table_width(), &text, err));
    TRY(print_text(text, err));
    print_nans(directory);
    if (stats->crashes > 0)
        printf("%llu evaluations lost their worker process, %llu of them count as outside the support: see "
               "%s/crashes.csv\n",
               (unsigned long long)stats->crashes, (unsigned long long)stats->crashes_outside, directory);
    print_ending(stats, options, !stats->finished);
    int status = print_failure(summary, directory, err);
    printf("\nDraws and summary are in %s\n", directory);
    return status == GESS_OK ? finish_output(err) : status;
}

/* `announced`: the terminal shows that it is at work. */
static int write_summary(const gess_run *run, const gess_options *options, const char *directory, int quiet,
                         int announced, gess_error *err)
{
    char threads[64] = "";
    gess_stats stats;
    gess_summary *summary = NULL;
    TRY(gess_run_stats(run, &stats, sizeof stats, err));
    if (stats.draws == 0 && announced) fputs("\r\033[K", stderr);
    if (stats.draws == 0) return GESS_OK;
    TRY(gess_options_get(options, "threads", threads, sizeof threads, err));
    const gess_summary_settings settings = {.threads = (unsigned)strtoul(threads, NULL, 10)};
    int status = gess_summary_new_run(&summary, run, &settings, sizeof settings, err);
    if (status == GESS_OK) status = gess_summary_write(summary, directory, err);
    if (announced) fputs("\r\033[K", stderr);
    if (status == GESS_OK && !quiet) status = print_summary(summary, &stats, options, directory, err);
    gess_summary_free(summary);
    return status;
}

/* Without --max-time, the time limit of the batch job counts. */
static int limit_time(gess_run *run, const gess_options *options, gess_error *err)
{
    char text[64];
    TRY(gess_options_get(options, "max-time", text, sizeof text, err));
    double left = launch_time_left();
    if (strtod(text, NULL) == 0.0) supervised_limit(left);
    return strtod(text, NULL) == 0.0 ? gess_run_max_time(run, left, err) : GESS_OK;
}

int begin_supervised(const char *model, gess_options *options, const char *directory, gess_error *err)
{
    char data[4096], limit[64];
    TRY(gess_options_get(options, "data", data, sizeof data, err));
    TRY(gess_options_get(options, "max-time", limit, sizeof limit, err));
    supervised_begin(model, data, directory);
    supervised_limit(strtod(limit, NULL));
    return supervised_watch(options, err);
}

/* What the library found about the density. */
static int print_warning(const gess_run *run, gess_error *err)
{
    char text[512];
    TRY(gess_run_warning(run, text, sizeof text, err));
    if (text[0] != '\0') fprintf(stderr, "gess: warning: %s\n", text);
    return GESS_OK;
}

int run_and_report(gess_run *run, const gess_options *options, const char *directory, int quiet, gess_error *err)
{
    struct progress progress;
    begin_progress(&progress, options);
    if (launch_rank() > 0) {
        catch_signals(run);
        TRY(gess_run_go(run, err));
        return write_evidence(run, options, directory, quiet, err);
    }
    TRY(limit_time(run, options, err));
    TRY(print_warning(run, err));
    if (!quiet) TRY(gess_run_on_progress(run, show_progress, &progress, err));
    catch_signals(run);
    int status = gess_run_go(run, err);
    supervised_report();
    catch_signals(NULL);
    if (progress.terminal && progress.last > 0.0) fputs("\r\033[K", stderr);
    if (status != GESS_OK && status != GESS_ERR_STOPPED) return status;
    if (progress.terminal && progress.last > 0.0) fputs("summarising", stderr);
    TRY(write_summary(run, options, directory, quiet, progress.terminal && progress.last > 0.0, err));
    if (status == GESS_OK) return write_evidence(run, options, directory, quiet, err);
    gess_stats stats;
    TRY(gess_run_stats(run, &stats, sizeof stats, err));
    char *quoted = NULL;
    TRY(gess_text_quote(directory, &quoted, err));
    fail(err, GESS_ERR_STOPPED, "%s after %llu draws per chain; to continue: gess resume %s",
         stats.out_of_time || supervised_out_of_time() ? "the time limit --max-time is over: stopped" : "stopped",
         (unsigned long long)stats.draws, quoted);
    gess_text_free(quoted);
    return GESS_ERR_STOPPED;
}
