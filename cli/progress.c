/* Prints the progress line of `gess sample` and `gess resume`: the phase and its share, ESS, R-hat, evaluations per
 * second, and the time that is left. */
#include "progress.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void show_time(char *text, size_t size, double seconds)
{
    if (seconds < 60.0)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 3600.0)
        snprintf(text, size, "%d min %d s", (int)seconds / 60, (int)seconds % 60);
    else if (seconds < 1e9)
        snprintf(text, size, "%d h %d min", (int)(seconds / 3600.0), (int)fmod(seconds, 3600.0) / 60);
    else
        snprintf(text, size, "more than 30 years");
}

static double option_number(const gess_options *options, const char *name)
{
    char text[64] = "";
    gess_options_get(options, name, text, sizeof text, NULL);
    return strtod(text, NULL);
}

static bool has_value(const gess_options *options, const char *name, const char *value)
{
    char text[64] = "";
    gess_options_get(options, name, text, sizeof text, NULL);
    return strcmp(text, value) == 0;
}

void begin_progress(struct progress *p, const gess_options *options)
{
    *p = (struct progress){.terminal = isatty(STDERR_FILENO),
                           .ends_itself = has_value(options, "warmup", "auto"),
                           .until_targets = has_value(options, "draws", "auto")};
    if (p->until_targets) snprintf(p->of_target, sizeof p->of_target, " of %.0f", option_number(options, "target-ess"));
}

/* Digits in groups of three. */
static const char *show_count(uint64_t count, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

/* The phase, how much of it is done, and how long the run will still take. */
static void describe_position(const struct progress *p, const gess_stats *s, char *text, size_t size)
{
    char done[32], total[32], left[40];
    int used;
    show_count(s->phase_done, done);
    show_count(s->phase_total, total);
    if (s->phase == GESS_PHASE_LEARNING) {
        used = snprintf(text, size, "learning: %s evaluations", done);
        if (s->phase_total > 0)
            used += snprintf(text + used, size - (size_t)used, " of %s%s", p->ends_itself ? "at most " : "", total);
        if (isfinite(s->evals_forecast))
            used += snprintf(text + used, size - (size_t)used, ", then about %s of sampling",
                             show_count((uint64_t)s->evals_forecast, done));
    } else {
        used = snprintf(text, size, "sampling: draw %s", done);
        if (s->phase_total > 0)
            used += snprintf(text + used, size - (size_t)used, " of %s%s (%d %%)", p->until_targets ? "about " : "",
                             total, (int)(100.0 * (double)s->phase_done / (double)s->phase_total));
    }
    if (!isfinite(s->seconds_left)) return;
    show_time(left, sizeof left, s->seconds_left);
    bool most = s->phase == GESS_PHASE_LEARNING && p->ends_itself;
    bool last = s->seconds_left < 1.0; /* a rounded 0 would stay for as long as the last draw takes */
    snprintf(text + used, size - (size_t)used, ", %s%s left",
             most   ? "at most "
             : last ? "less than "
                    : "about ",
             last ? "1 s" : left);
}

/* Cuts the line to the width of the terminal, between UTF-8 characters. */
static void fit_terminal(char *line)
{
    struct winsize terminal;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) != 0 || terminal.ws_col < 20) return;
    size_t shown = 0;
    for (char *c = line; *c != '\0'; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80) continue;
        if (++shown < terminal.ws_col) continue;
        *c = '\0';
        return;
    }
}

/* Says once that the time limit is likely to end the run too early. */
static void warn_of_time(struct progress *p, const gess_stats *s)
{
    if (!s->learning_late || p->warned) return;
    p->warned = 1;
    fprintf(stderr,
            "%sgess: at this pace the time limit ends the run while it is learning, before any draw is kept; it could "
            "be "
            "resumed\n",
            p->terminal ? "\r\033[K" : "");
}

int show_progress(void *user, const gess_stats *s, uint64_t planned)
{
    struct progress *p = user;
    warn_of_time(p, s);
    double wait = p->terminal ? 0.1 : 10.0, passed = s->seconds - p->last;
    if (s->iterations == 0 || passed < wait) return 0;
    double updates = (double)(s->updates - p->previous.updates), evals = (double)(s->evals - p->previous.evals);
    if (updates > 0.0) p->evals_per_update = evals / updates;
    double rate = evals / passed;
    p->rate = p->rate > 0.0 ? 0.8 * p->rate + 0.2 * rate : rate;
    char nu[40] = "", position[240], figures[160] = "", line[512];
    if (!isnan(s->nu)) snprintf(nu, sizeof nu, ", nu %.3g", s->nu);
    (void)planned;
    describe_position(p, s, position, sizeof position);
    if (isfinite(s->worst_rhat))
        snprintf(figures, sizeof figures, ", ESS %.0f%s, R-hat %.3f (slowest: %s)", s->least_ess, p->of_target,
                 s->worst_rhat, s->slowest);
    snprintf(line, sizeof line, "%s%s, %.*f evaluations/s, %.2f per update%s", position, figures,
             p->rate < 10.0 ? 2 : 0, p->rate, p->evals_per_update, nu);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?'; /* parameter names may contain anything */
    if (p->terminal) fit_terminal(line);
    fprintf(stderr, p->terminal ? "\r%s\033[K" : "%s\n", line);
    fflush(stderr);
    p->last = s->seconds;
    p->previous = *s;
    return 0;
}
