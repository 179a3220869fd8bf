/* Runs a run in the terminal, for `sample` and `resume`: shows progress, stops at signals, and prints the summary at
 * the end. */
#include "base/clock.h"
#include "command.h"
#include "launch.h"
#include "progress.h"
#include "report/verdict.h"
#include "run/directory.h"
#include "run/run.h"

#include <signal.h>
#include <unistd.h>

/* ---- signals: the first stops the run with a checkpoint, the second ends the process ---- */

static gess_run *signalled;
static volatile sig_atomic_t signals;
static const int caught[] = {SIGINT, SIGTERM, SIGUSR1};

static volatile double first_signal;

/* Of several processes only the first one reacts to a second signal, and launchers may pass on the same signal twice.
 */
static int is_repeated(void)
{
    return launch_comm() != NULL && (launch_rank() > 0 || gess__seconds() - first_signal < 1.0);
}

static void on_signal(int number)
{
    if (signals++ == 0) {
        first_signal = gess__seconds();
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

/* How warm-up and sampling ended, if gess decided that. */
static void print_ending(const gess_stats *s, const gess_options *o, int stopped)
{
    if (o->warmup == GESS_AUTO && s->warmup_settled)
        printf("warm-up ended itself after %llu iterations\n", (unsigned long long)s->warmup);
    else if (o->warmup == GESS_AUTO)
        printf("warm-up reached its limit of evaluations after %llu iterations while still improving\n",
               (unsigned long long)s->warmup);
    if (s->method[0] != '\0') printf("%s\n", s->method);
    if (o->draws != GESS_AUTO || stopped) return;
    if (s->targets_met)
        printf("targets met: smallest bulk ESS %.0f, worst R-hat %.4f\n", s->least_ess, s->worst_rhat);
    else
        printf("TARGETS NOT MET: smallest bulk ESS %.0f, worst R-hat %.4f; do not trust these figures yet: allow "
               "more with %s\n",
               s->least_ess, s->worst_rhat,
               o->warmup == GESS_AUTO && !s->warmup_settled ? "--max-warmup-evals and --max-evals" : "--max-evals");
}

/* The worst finding of `gess diagnose`, if the run fails. */
static int print_failure(const gess__summary *summary, const char *directory, gess_error *err)
{
    gess__verdict verdict = {0};
    int status = gess__judge_run(&verdict, summary, directory, err);
    if (status == GESS_OK && !verdict.pass)
        printf("DO NOT TRUST THIS YET: %s (`gess diagnose %s` says more)\n", verdict.findings[0].text, directory);
    gess__verdict_free(&verdict);
    return status;
}

static int write_summary(const gess_run *run, const gess_options *options, int quiet, gess_error *err)
{
    char path[4096];
    gess_stats stats;
    gess__summary summary = {0};
    const gess__summary_settings settings = {.ensembles = run->ensembles, .threads = (unsigned)options->threads};
    gess_run_stats(run, &stats, sizeof stats, NULL);
    int status = gess__directory_path(run->directory, "draws.gess", path, sizeof path, err);
    if (status == GESS_OK) status = gess__summarise_file(&summary, path, &settings, err);
    if (status == GESS_OK) status = gess__summary_set_stats(&summary, &stats, err);
    if (status == GESS_OK)
        status = gess__directory_write_json(run->directory, "summary.json", gess__summary_json(&summary), err);
    if (status == GESS_OK && !quiet) {
        gess__summary_print_table(&summary, table_width(), stdout);
        print_nans(run->directory);
        print_ending(&stats, options, !run->finished);
        status = print_failure(&summary, run->directory, err);
        printf("\nDraws and summary are in %s\n", run->directory);
        if (status == GESS_OK) status = finish_output(err);
    }
    gess__summary_free(&summary);
    return status;
}

int run_and_report(gess_run *run, const gess_options *options, int quiet, gess_error *err)
{
    struct progress progress = {.run = run, .terminal = isatty(STDERR_FILENO)};
    if (launch_rank() > 0) {
        catch_signals(run);
        return gess_run_go(run, err);
    }
    if (run->options.max_time == 0.0) run->options.max_time = launch_time_left();
    if (!quiet) {
        gess_run_on_progress(run, show_progress, &progress, NULL);
        run->monitor.wanted = 1;
    }
    catch_signals(run);
    int status = gess_run_go(run, err);
    catch_signals(NULL);
    if (progress.terminal && progress.last > 0.0) fputc('\n', stderr);
    if (status == GESS_ERR_STOPPED) {
        gess_stats stats;
        gess_run_stats(run, &stats, sizeof stats, NULL);
        if (stats.draws > 0) GESS_TRY(write_summary(run, options, quiet, err));
        return gess__fail(err, GESS_ERR_STOPPED, "%s after %llu draws per chain; to continue: gess resume %s",
                          run->out_of_time ? "the time limit --max-time is over: stopped" : "stopped",
                          (unsigned long long)stats.draws, run->directory);
    }
    GESS_TRY(status);
    return run->stats.draws > 0 ? write_summary(run, options, quiet, err) : GESS_OK;
}
