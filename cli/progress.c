/* Prints the progress line of `gess sample` and `gess resume`: position, ESS, R-hat, evaluations per second, and the
 * time that is left. */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

void begin_progress(struct progress *p, const gess_options *options)
{
    *p = (struct progress){.terminal = isatty(STDERR_FILENO),
                           .target_ess = option_number(options, "target-ess"),
                           .target_rhat = option_number(options, "target-rhat"),
                           .max_evals = option_number(options, "max-evals")};
}

/* Seconds until the targets are met or --max-evals is reached, whichever is first; NaN before the first check. Assumes
 * that ESS is proportional to the draws and R-hat² - 1 to their inverse. */
static double time_to_targets(const struct progress *p, const gess_stats *s)
{
    if (s->checked_draws == 0 || !isfinite(s->worst_rhat) || s->draws == 0 || p->target_rhat <= 1.0) return NAN;
    double factor = fmax(p->target_ess / s->least_ess,
                         (s->worst_rhat * s->worst_rhat - 1.0) / (p->target_rhat * p->target_rhat - 1.0));
    double draws = (double)s->checked_draws * factor - (double)s->draws;
    double left = fmax(draws, 0.0) * s->seconds_sampling / (double)s->draws;
    return fmin(left, fmax(p->max_evals - (double)s->evals, 0.0) / p->rate);
}

/* The position of the run, and how long it will still take. */
static void describe_position(const struct progress *p, const gess_stats *s, uint64_t planned, char *text, size_t size)
{
    char left[40] = "";
    double seconds =
        planned > 0 ? s->seconds / (double)s->iterations * (double)(planned - s->iterations) : time_to_targets(p, s);
    if (isfinite(seconds)) show_time(left, sizeof left, seconds);
    int used = s->draws == 0 ? snprintf(text, size, "warm-up, iteration %llu", (unsigned long long)s->iterations)
                             : snprintf(text, size, "draw %llu", (unsigned long long)s->draws);
    if (planned > 0)
        used += snprintf(text + used, size - (size_t)used, ", %d %%",
                         (int)(100.0 * (double)s->iterations / (double)planned));
    if (left[0] != '\0') snprintf(text + used, size - (size_t)used, ", %s%s left", planned > 0 ? "" : "about ", left);
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

int show_progress(void *user, const gess_stats *s, uint64_t planned)
{
    struct progress *p = user;
    double wait = p->terminal ? 0.1 : 10.0, passed = s->seconds - p->last;
    if (s->iterations == 0 || passed < wait) return 0;
    double updates = (double)(s->updates - p->previous.updates), evals = (double)(s->evals - p->previous.evals);
    if (updates > 0.0) p->evals_per_update = evals / updates;
    double rate = evals / passed;
    p->rate = p->rate > 0.0 ? 0.8 * p->rate + 0.2 * rate : rate;
    char nu[40] = "", position[160], figures[160] = "", line[512];
    if (!isnan(s->nu)) snprintf(nu, sizeof nu, ", nu %.3g", s->nu);
    describe_position(p, s, planned, position, sizeof position);
    if (isfinite(s->worst_rhat))
        snprintf(figures, sizeof figures, ", ESS %.0f, R-hat %.3f (slowest: %s)", s->least_ess, s->worst_rhat,
                 s->slowest);
    snprintf(line, sizeof line, "%s%s, %.3g evaluations/s, %.2f per update%s", position, figures, p->rate,
             p->evals_per_update, nu);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?'; /* parameter names may contain anything */
    if (p->terminal) fit_terminal(line);
    fprintf(stderr, p->terminal ? "\r%s\033[K" : "%s\n", line);
    fflush(stderr);
    p->last = s->seconds;
    p->previous = *s;
    return 0;
}
