/* Figure 1 of the paper: ellipses of elliptical slice sampling over points of the distribution; and, beyond the paper,
 * one update with the angles that it tried. The states come from the library's kernel `ess`; the ellipses are computed
 * again from its variates, and the new states are checked to lie on them. */
#include "base/mem.h"
#include "reproduce/plain.h"

#include <math.h>
#include <stdlib.h>

enum { ELLIPSES = 5, BACKGROUND = 250, UPDATES = 2000, CHAINS = 10 };

static void shape(gess__plain *p)
{
    gess__plain_tilt(p->chol, 2.0, 0.45, 35.0);
}

/* An ellipse passes through x and ν, so the mean covariance of the ellipses is that of x and ν. */
typedef struct sums {
    double xx, xy, yy, off;
    size_t count, rejected;
} sums;

static int follow(gess__plain *p, sums *s, json_t *ellipses, gess_error *err)
{
    const gess__chains *chains = &p->ensemble->chains;
    double before[CHAINS][2], nu[CHAINS][2], scale;
    for (size_t c = 0; c < CHAINS; c++) {
        before[c][0] = chains->x[2 * c];
        before[c][1] = chains->x[2 * c + 1];
        gess__plain_ellipse(p, c, nu[c], &scale);
        s->xx += 0.5 * (before[c][0] * before[c][0] + nu[c][0] * nu[c][0]);
        s->xy += 0.5 * (before[c][0] * before[c][1] + nu[c][0] * nu[c][1]);
        s->yy += 0.5 * (before[c][1] * before[c][1] + nu[c][1] * nu[c][1]);
    }
    GESS_TRY(gess__plain_step(p, err));
    for (size_t c = 0; c < CHAINS; c++) {
        s->off = fmax(s->off, gess__plain_off(p->centre, before[c], nu[c], chains->x + 2 * c));
        s->count++;
        if (json_array_size(ellipses) < ELLIPSES)
            json_array_append_new(ellipses, json_pack("{s:o, s:o, s:o}", "x", gess__plain_json(2, before[c]), "nu",
                                                      gess__plain_json(2, nu[c]), "next",
                                                      gess__plain_json(2, chains->x + 2 * c)));
    }
    return GESS_OK;
}

/* The panels of the paper: the prior is the target, so every first angle is accepted. */
static int draw_ellipses(uint64_t seed, const gess__approx *t, sums *s, json_t *result, gess_error *err)
{
    gess__plain p = {0};
    double points[2 * BACKGROUND];
    json_t *ellipses = json_array(), *background = json_array();
    shape(&p);
    gess__plain_points(&p, 2, seed, BACKGROUND, points);
    for (size_t i = 0; i < BACKGROUND; i++) json_array_append_new(background, gess__plain_json(2, points + 2 * i));
    json_object_set_new(result, "background", background);
    json_object_set_new(result, "ellipses", ellipses);
    int status = gess__plain_open(&p, 2, "ess", CHAINS, seed, t, err);
    for (size_t i = 0; status == GESS_OK && i < UPDATES; i++) status = follow(&p, s, ellipses, err);
    gess__plain_close(&p);
    return status;
}

/* With a likelihood: the first update after 20 that rejects three to five angles. */
static int draw_update(uint64_t seed, const gess__approx *t, json_t *result, gess_error *err)
{
    gess__plain p = {.observed = {2.0, 0.6}, .noise = 0.5};
    double before[2], nu[2], scale;
    size_t tried = 0;
    shape(&p);
    int status = gess__plain_open(&p, 2, "ess", 1, seed, t, err);
    const double *x = status == GESS_OK ? p.ensemble->chains.x : NULL;
    for (size_t i = 0; status == GESS_OK && i < UPDATES && (i < 20 || tried < 4 || tried > 6); i++) {
        before[0] = x[0];
        before[1] = x[1];
        gess__plain_ellipse(&p, 0, nu, &scale);
        p.seen = 0;
        status = gess__plain_step(&p, err);
        /* count the angles up to the accepted one */
        tried = 1;
        while (tried < p.seen && tried < GESS__PLAIN_SEEN &&
               (p.points[tried - 1][0] != x[0] || p.points[tried - 1][1] != x[1]))
            tried++;
    }
    if (status == GESS_OK) {
        json_t *angles = json_array();
        for (size_t i = 0; i < tried; i++) json_array_append_new(angles, gess__plain_json(2, p.points[i]));
        json_object_set_new(result, "update",
                            json_pack("{s:o, s:o, s:o, s:o}", "x", gess__plain_json(2, before), "nu",
                                      gess__plain_json(2, nu), "next", gess__plain_json(2, x), "tried", angles));
    }
    gess__plain_close(&p);
    return status;
}

static int compute(const json_t *settings, json_t **result, gess_error *err)
{
    uint64_t seed = gess__json_count(settings, "seed");
    gess__plain target = {0};
    gess__approx *t = NULL;
    sums s = {0};
    *result = json_object();
    shape(&target);
    int status = gess__approx_new(&t, 2, err);
    if (status == GESS_OK) {
        for (size_t i = 0; i < 4; i++) t->chol[i] = target.chol[i];
        t->nu = INFINITY;
        gess__approx_ready(t);
        status = draw_ellipses(seed, t, &s, *result, err);
    }
    if (status == GESS_OK) status = draw_update(seed, t, *result, err);
    gess__approx_free(t);
    const double *l = target.chol;
    double n = (double)s.count, measured = s.xy / sqrt(s.xx * s.yy);
    double truth = l[1] / sqrt(l[1] * l[1] + l[3] * l[3]);
    json_object_set_new(*result, "off", json_real(s.off));
    json_object_set_new(*result, "updates", json_integer((json_int_t)s.count));
    json_object_set_new(*result, "correlation", json_real(measured));
    json_object_set_new(*result, "correlation_true", json_real(truth));
    json_object_set_new(*result, "variance_ratio",
                        json_real((s.xx + s.yy) / n / (l[0] * l[0] + l[1] * l[1] + l[3] * l[3])));
    return status;
}

static int plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    return gess__cells_add(cells, r, figure, r->seed, 0.5, json_pack("{s:i}", "updates", UPDATES * CHAINS), err, "all");
}

static void put_point(FILE *out, const json_t *point)
{
    fprintf(out, "%.5g %.5g\n", json_number_value(json_array_get(point, 0)),
            json_number_value(json_array_get(point, 1)));
}

static double part(const json_t *object, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(object, key), i));
}

/* The ellipse around 0 through x and ν, as functions of gnuplot's t. */
static void put_ellipse(FILE *out, const json_t *ellipse)
{
    fprintf(out, "%.5g*cos(t)+%.5g*sin(t),%.5g*cos(t)+%.5g*sin(t)", part(ellipse, "x", 0), part(ellipse, "nu", 0),
            part(ellipse, "x", 1), part(ellipse, "nu", 1));
}

static void put_data(FILE *out, const json_t *result)
{
    size_t i;
    const json_t *item, *update = json_object_get(result, "update");
    fputs("$points << EOD\n", out);
    json_array_foreach(json_object_get(result, "background"), i, item) put_point(out, item);
    fputs("EOD\n", out);
    json_array_foreach(json_object_get(result, "ellipses"), i, item)
    {
        fprintf(out, "$x%zu << EOD\n", i);
        put_point(out, json_object_get(item, "x"));
        fprintf(out, "EOD\n$nu%zu << EOD\n", i);
        put_point(out, json_object_get(item, "nu"));
        fputs("EOD\n", out);
    }
    fputs("$tried << EOD\n", out);
    json_array_foreach(json_object_get(update, "tried"), i, item) put_point(out, item);
    fputs("EOD\n$old << EOD\n", out);
    put_point(out, json_object_get(update, "x"));
    fputs("EOD\n$nu << EOD\n", out);
    put_point(out, json_object_get(update, "nu"));
    fputs("EOD\n$new << EOD\n", out);
    put_point(out, json_object_get(update, "next"));
    fputs("EOD\n", out);
}

static int draw(const gess__reproduction *r, const json_t *result, json_t *page, gess_error *err)
{
    static const char *const colours[ELLIPSES] = {"#0b62a8", "#c0392b", "#12733f", "#b7791f", "#6b3fa0"};
    gess__plot plot;
    GESS_TRY(gess__plot_begin(&plot, 1200, 440, err));
    put_data(plot.script, result);
    fputs("set multiplot layout 1,3\nset parametric\nset trange [0:2*pi]\nset samples 400\nunset grid\n"
          "set xrange [-6:6]\nset yrange [-5:5]\nset title 'Ellipses of ESS'\n"
          "plot $points with points pt 7 ps 0.3 lc rgb '#c4cad3'",
          plot.script);
    for (size_t i = 0; i < ELLIPSES; i++) {
        fputs(", ", plot.script);
        put_ellipse(plot.script, json_array_get(json_object_get(result, "ellipses"), i));
        fprintf(plot.script, " with lines lw 1.5 lc rgb '%s'", colours[i]);
    }
    fputs("\nset title 'Their x (○) and ν (+)'\nplot $points with points pt 7 ps 0.3 lc rgb '#c4cad3'", plot.script);
    for (size_t i = 0; i < ELLIPSES; i++)
        fprintf(plot.script,
                ", $x%zu with points pt 6 ps 1.6 lw 2 lc rgb '%s', $nu%zu with points pt 1 ps 1.6 lw 2 lc rgb '%s'", i,
                colours[i], i, colours[i]);
    fputs("\nset title 'One update with a likelihood: angles tried'\nset key top left samplen 1\n"
          "plot $points with points pt 7 ps 0.3 lc rgb '#c4cad3', ",
          plot.script);
    put_ellipse(plot.script, json_object_get(result, "update"));
    fputs(" with lines lw 1.5 lc rgb '#8a94a3', $tried with points pt 2 ps 1.2 lw 2 lc rgb '#b7791f' title 'tried', "
          "$old with points pt 7 ps 1.2 lc rgb '#0b62a8' title 'x', $nu with points pt 1 ps 1.6 lw 2 lc rgb '#6b3fa0' "
          "title 'ν', $new with points pt 7 ps 1.2 lc rgb '#c0392b' title 'new x'\nunset multiplot\n",
          plot.script);
    return gess__plot_end(&plot, r, page, "figure-ellipse",
                          "Left and middle: five ellipses of elliptical slice sampling where the prior is the target, "
                          "and the x and ν that make them. Right: one update where a likelihood around (2, 0.6) "
                          "narrows the target; rejected angles shrink the bracket towards x.",
                          err);
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    const json_t *result = cells[0].result, *item;
    double off = gess__json_real(result, "off"), c = gess__json_real(result, "correlation");
    double truth = gess__json_real(result, "correlation_true"), ratio = gess__json_real(result, "variance_ratio");
    size_t i, n = (size_t)gess__json_count(result, "updates");
    (void)count;
    gess__page_text(page, "paper",
                    "Figure 1 of the paper: points of a two-dimensional Gaussian, and five ellipses that elliptical "
                    "slice sampling makes there with the same Gaussian as its prior.");
    gess__page_claim(page, off < 1e-9 ? GESS__HOLDS : GESS__FAILS,
                     "The next state is a point of the ellipse through the present state x and ν (equation 2).",
                     "Of %zu updates of the kernel ess, the state furthest off its ellipse is off by %.1e of it "
                     "(bound: 1e-9).",
                     n, off);
    gess__page_claim(page, fabs(c - truth) < 0.02 && fabs(ratio - 1.0) < 0.05 ? GESS__HOLDS : GESS__FAILS,
                     "The ellipses reflect the structure of the distribution.",
                     "Mean covariance of the %zu ellipses: correlation %.3f, the target's %.3f (bound: 0.02 apart); "
                     "variances %.3f of the target's (bound: 0.05 from 1).",
                     n, c, truth, ratio);
    gess__page_text(page, "setup",
                    "Kernel ess, 2 dimensions, %d chains, %zu updates, seed %llu; nothing is scaled down.", CHAINS, n,
                    (unsigned long long)r->seed);
    json_array_foreach(json_object_get(result, "ellipses"), i, item)
        gess__page_data(page,
                        json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "ellipse", (json_int_t)i + 1, "x1",
                                  part(item, "x", 0), "x2", part(item, "x", 1), "nu1", part(item, "nu", 0), "nu2",
                                  part(item, "nu", 1), "next1", part(item, "next", 0), "next2", part(item, "next", 1)));
    return draw(r, result, page, err);
}

const gess__figure gess__figure_ellipse = {
    .name = "figure-ellipse",
    .title = "Ellipses of elliptical slice sampling",
    .help = "updates of elliptical slice sampling and their ellipses",
    .revision = 1,
    .plan = plan,
    .compute = compute,
    .make = make,
};
