/* `gess watch`: shows how far a run is, in the terminal or as a page, while it goes on. */
#include "command.h"

#include <errno.h>
#include <gess/draws.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct arguments {
    const char *directory, *page;
    int once, json;
    double interval;
};

enum { ONCE = 256 };

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    char *end;
    switch (key) {
    case ONCE: a->once = 1; return 0;
    case 'j': a->json = a->once = 1; return 0;
    case 'H': a->page = argument; return 0;
    case 'i':
        a->interval = strtod(argument, &end);
        if (end == argument || *end != '\0' || !(a->interval >= 0.1) || !(a->interval <= 86400.0))
            USAGE(state, "`%s` is no number of seconds from 0.1 to 86400", argument);
        return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* Replaces the page at once. */
static int write_page(const struct arguments *a, gess_error *err)
{
    char temporary[4096], *text = NULL;
    TRY(gess_watch_text(a->directory, GESS_FORMAT_HTML, 0, a->interval, &text, NULL, err));
    int length = snprintf(temporary, sizeof temporary, "%s.tmp", a->page);
    FILE *out = length > 0 && (size_t)length < sizeof temporary ? fopen(temporary, "w") : NULL;
    int good = out != NULL && fputs(text, out) >= 0;
    if (out != NULL && fclose(out) != 0) good = 0;
    gess_text_free(text);
    if (good && rename(temporary, a->page) == 0) return GESS_OK;
    int reason = errno;
    if (out != NULL) unlink(temporary);
    return fail(err, GESS_ERR_FILE, "cannot write %s: %s", a->page, strerror(reason));
}

/* Shows the run once; in a terminal in place of what was shown before, `lines` lines of it. */
static int show(const struct arguments *a, int *state, size_t *lines, gess_error *err)
{
    char *text = NULL;
    TRY(gess_watch_text(a->directory, a->json ? GESS_FORMAT_JSON : GESS_FORMAT_TEXT, table_width(), a->interval, &text,
                        state, err));
    if (*lines > 0) printf("\033[%zuA\r\033[J", *lines);
    *lines = 0;
    for (const char *c = text; *c != '\0'; c++) *lines += *c == '\n';
    fputs(text, stdout);
    gess_text_free(text);
    return finish_output(err);
}

static int over(int state)
{
    return state == GESS_WATCH_GONE || state == GESS_WATCH_STOPPED || state == GESS_WATCH_FINISHED ||
           state == GESS_WATCH_FAILED;
}

static int watch(const struct arguments *a, gess_error *err)
{
    int state = GESS_WATCH_WAITING, terminal = table_width() > 0;
    size_t lines = 0;
    struct timespec pause = {.tv_sec = (time_t)a->interval,
                             .tv_nsec = (long)(1e9 * (a->interval - floor(a->interval)))};
    for (;;) {
        if (a->page != NULL) TRY(write_page(a, err));
        if (!terminal) lines = 0; /* blocks of lines, one after the other */
        TRY(show(a, &state, &lines, err));
        if (a->once || over(state)) return GESS_OK;
        nanosleep(&pause, NULL);
        if (interrupted) return GESS_OK;
    }
}

int command_watch(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"once", ONCE, NULL, 0, "show it once, for scripts", 0},
                                                 {"json", 'j', NULL, 0, "print JSON, once", 0},
                                                 {"html", 'H', "FILE", 0, "write a page, too, which reloads itself", 0},
                                                 {"interval", 'i', "SECONDS", 0,
                                                  "how often to look (default: 1 in a terminal, 10 otherwise)", 0},
                                                 {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "DIR",
         .doc =
             "Shows how far the run in DIR is: phase, budget, ESS and R-hat against their targets with their "
             "history, the slowest parameters, the shares of MPI ranks, and the time left. It only reads, so the run "
             "may be a job elsewhere whose directory is mounted here. It ends when the run does; Ctrl-C ends it "
             "before, and never the run."};
    struct arguments a = {0};
    struct sigaction action = {.sa_handler = interrupt};
    TRY(parse_arguments(&argp, argc, argv, &a));
    if (a.interval == 0.0) a.interval = table_width() > 0 ? 1.0 : 10.0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return watch(&a, err);
}
