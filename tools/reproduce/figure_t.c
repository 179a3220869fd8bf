/* Figure 3 of the paper: contours of a multivariate t fitted to a sample, and an update of generalized elliptical
 * slice sampling with it. The paper's sample is an elongated Gaussian; beyond the paper, there is a skewed one. */
#include "approx/fit.h"
#include "base/mem.h"
#include "reproduce/plain.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 1000, FRESH = 20000, UPDATES = 500, SHOWN = 200 };

static const double shares[] = {0.5, 0.9, 0.99};
enum { SHARES = sizeof shares / sizeof *shares };

static void gaussian_points(uint64_t seed, size_t n, double *points)
{
    gess__plain p = {0};
    gess__plain_tilt(p.chol, 2.0, 0.5, 35.0);
    gess__plain_points(&p, 2, seed, n, points);
}

/* A gamma variate of shape 2 along one axis, which also shifts the other. */
static void skewed_points(uint64_t seed, size_t n, double *points)
{
    for (size_t i = 0; i < n; i++) {
        gess__key key = {.seed = seed, .chain = (uint32_t)i, .purpose = GESS__FOR_MODEL};
        double normals[2], long_way;
        gess__normals(key, 2, normals);
        key.purpose = GESS__FOR_SCALE;
        long_way = gess__gamma(key, 2.0);
        points[2 * i] = long_way - 2.0;
        points[2 * i + 1] = 0.6 * (long_way - 2.0) + 0.5 * normals[0];
    }
}

static double distance(const gess__approx *t, const double *x)
{
    double first = (x[0] - t->mu[0]) / t->chol[0], second = (x[1] - t->mu[1] - t->chol[1] * first) / t->chol[3];
    return first * first + second * second;
}

static int fit(const double *points, gess__approx *t, gess_error *err)
{
    gess__fitter *fitter = NULL;
    gess__fit_report report;
    int status = gess__fitter_new(&fitter, 2, SAMPLE, err);
    if (status == GESS_OK) status = gess__fitter_thorough(fitter, err);
    if (status == GESS_OK) gess__fit(fitter, SAMPLE, points, GESS__FIT_EXACT, t, &report);
    gess__fitter_free(fitter);
    return status;
}

/* Runs UPDATES updates: stores the last, and the largest distance of a new state from its ellipse. */
static int update(uint64_t seed, const gess__approx *t, json_t *result, gess_error *err)
{
    gess__plain p = {0};
    double before[2], nu[2], scale, off = 0.0;
    gess__plain_tilt(p.chol, 2.0, 0.5, 35.0);
    int status = gess__plain_open(&p, 2, "gess", 1, seed, t, err);
    const double *x = status == GESS_OK ? p.ensemble->chains.x : NULL;
    for (size_t i = 0; status == GESS_OK && i < UPDATES; i++) {
        before[0] = x[0];
        before[1] = x[1];
        gess__plain_ellipse(&p, 0, nu, &scale);
        status = gess__plain_step(&p, err);
        off = fmax(off, gess__plain_off(t->mu, before, nu, x));
    }
    if (status == GESS_OK) {
        json_object_set_new(result, "off", json_real(off));
        json_object_set_new(result, "update",
                            json_pack("{s:o, s:o, s:o, s:f}", "x", gess__plain_json(2, before), "nu",
                                      gess__plain_json(2, nu), "next", gess__plain_json(2, x), "s", scale));
    }
    gess__plain_close(&p);
    return status;
}

static json_t *describe(const gess__approx *t, const double *points, const double *fresh)
{
    json_t *sample = json_array(), *inside = json_array();
    for (size_t i = 0; i < SAMPLE; i++) json_array_append_new(sample, gess__plain_json(2, points + 2 * i));
    for (size_t k = 0; k < SHARES; k++) {
        double level = gess__plain_contour(t->nu, shares[k]);
        size_t count = 0;
        for (size_t i = 0; i < FRESH; i++) count += distance(t, fresh + 2 * i) <= level;
        json_array_append_new(inside, json_real((double)count / FRESH));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "nu", isfinite(t->nu) ? json_real(t->nu) : json_null(), "mu",
                     gess__plain_json(2, t->mu), "chol", gess__plain_json(4, t->chol), "inside", inside, "sample",
                     sample);
}

static int compute(const json_t *settings, json_t **result, gess_error *err)
{
    uint64_t seed = gess__json_count(settings, "seed");
    int skewed = json_is_true(json_object_get(settings, "skewed"));
    double *points = NULL, *fresh = NULL;
    gess__approx *t = NULL;
    int status = gess__alloc_bytes(&points, 2 * SAMPLE, sizeof *points, "points", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&fresh, 2 * FRESH, sizeof *fresh, "points", err);
    if (status == GESS_OK) status = gess__approx_new(&t, 2, err);
    if (status == GESS_OK) {
        (skewed ? skewed_points : gaussian_points)(seed, SAMPLE, points);
        (skewed ? skewed_points : gaussian_points)(seed + 1000003, FRESH, fresh);
        status = fit(points, t, err);
    }
    if (status == GESS_OK) *result = describe(t, points, fresh);
    if (status == GESS_OK && !skewed) {
        /* with infinite ν there would be no scale s to show */
        if (isinf(t->nu)) t->nu = 8.0;
        json_object_set_new(*result, "update_nu", json_real(t->nu));
        status = update(seed, t, *result, err);
    }
    free(points);
    free(fresh);
    gess__approx_free(t);
    return status;
}

static int plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    for (int skewed = 0; skewed < 2; skewed++)
        GESS_TRY(gess__cells_add(cells, r, figure, r->seed, 0.3,
                                 json_pack("{s:b, s:i, s:i}", "skewed", skewed, "points", SAMPLE, "fresh", FRESH), err,
                                 skewed ? "skewed" : "gaussian"));
    return GESS_OK;
}

static double part(const json_t *object, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(object, key), i));
}

static double nu_of(const json_t *fitted)
{
    double nu = gess__json_real(fitted, "nu");
    return isnan(nu) ? INFINITY : nu;
}

static void put_sample(FILE *out, const char *name, const json_t *fitted)
{
    size_t i;
    const json_t *point;
    fprintf(out, "$%s << EOD\n", name);
    json_array_foreach(json_object_get(fitted, "sample"), i, point) if (i < SHOWN)
        fprintf(out, "%.5g %.5g\n", json_number_value(json_array_get(point, 0)),
                json_number_value(json_array_get(point, 1)));
    fputs("EOD\n", out);
}

/* The contour at squared distance d, as functions of gnuplot's t. */
static void put_contour(FILE *out, const json_t *fitted, double d)
{
    double root = sqrt(d);
    fprintf(out, "%.5g+%.5g*cos(t),%.5g+%.5g*cos(t)+%.5g*sin(t)", part(fitted, "mu", 0), root * part(fitted, "chol", 0),
            part(fitted, "mu", 1), root * part(fitted, "chol", 1), root * part(fitted, "chol", 3));
}

static void put_contours(FILE *out, const char *name, const json_t *fitted)
{
    static const char *const colours[SHARES] = {"#0b62a8", "#4f94cd", "#9cc3e6"};
    fprintf(out, "plot $%s with points pt 7 ps 0.4 lc rgb '#aab2bd'", name);
    for (size_t k = 0; k < SHARES; k++) {
        fputs(", ", out);
        put_contour(out, fitted, gess__plain_contour(nu_of(fitted), shares[k]));
        fprintf(out, " with lines lw 1.5 lc rgb '%s' title '%g %%'", colours[k], 100.0 * shares[k]);
    }
    fputc('\n', out);
}

static void put_update(FILE *out, const json_t *fitted)
{
    static const char *const names[] = {"x", "nu", "next"};
    const json_t *update = json_object_get(fitted, "update");
    for (size_t k = 0; k < 3; k++)
        fprintf(out, "$%s << EOD\n%.5g %.5g\nEOD\n", names[k], part(update, names[k], 0), part(update, names[k], 1));
    fputs("plot $gaussian with points pt 7 ps 0.4 lc rgb '#aab2bd', ", out);
    double mu[2] = {part(fitted, "mu", 0), part(fitted, "mu", 1)};
    fprintf(out, "%.5g+%.5g*cos(t)+%.5g*sin(t),%.5g+%.5g*cos(t)+%.5g*sin(t) with lines lw 1.5 lc rgb '#8a94a3'", mu[0],
            part(update, "x", 0) - mu[0], part(update, "nu", 0) - mu[0], mu[1], part(update, "x", 1) - mu[1],
            part(update, "nu", 1) - mu[1]);
    fputs(", $x with points pt 7 ps 1.3 lc rgb '#0b62a8' title 'x', $nu with points pt 7 ps 1.3 lc rgb '#d9a520' title "
          "'drawn with scale s', $next with points pt 7 ps 1.3 lc rgb '#c0392b' title 'new x'\n",
          out);
}

static int draw(const gess__reproduction *r, const json_t *gaussian, const json_t *skewed, json_t *page,
                gess_error *err)
{
    gess__plot plot;
    GESS_TRY(gess__plot_begin(&plot, 1200, 440, err));
    put_sample(plot.script, "gaussian", gaussian);
    put_sample(plot.script, "skewed", skewed);
    fputs("set multiplot layout 1,3\nset parametric\nset trange [0:2*pi]\nset samples 400\nunset grid\n"
          "set key top left samplen 1\nset xrange [-7:7]\nset yrange [-6:6]\nset title 't fitted to a Gaussian "
          "sample'\n",
          plot.script);
    put_contours(plot.script, "gaussian", gaussian);
    fputs("set title 'A GESS update'\n", plot.script);
    put_update(plot.script, gaussian);
    fputs("set title 't fitted to a skewed sample'\nset xrange [-5:9]\nset yrange [-5:7]\n", plot.script);
    put_contours(plot.script, "skewed", skewed);
    fputs("unset multiplot\n", plot.script);
    return gess__plot_end(&plot, r, page, "figure-t",
                          "Left: contours of the t fitted to 1000 points of an elongated Gaussian. Middle: an update "
                          "with "
                          "it. Right: the t fitted to 1000 points of a skewed density; 200 of the points are shown.",
                          err);
}

static void judge_contours(json_t *page, const json_t *fitted, const char *claim, double bound)
{
    double worst = 0.0;
    for (size_t k = 0; k < SHARES; k++) worst = fmax(worst, fabs(part(fitted, "inside", k) - shares[k]));
    gess__page_claim(page, worst <= bound ? GESS__HOLDS : GESS__FAILS, claim,
                     "The contours of 50, 90 and 99 %% hold %.1f, %.1f and %.1f %% of %d fresh points (bound: %.0f "
                     "points "
                     "off); ν = %.3g.",
                     100.0 * part(fitted, "inside", 0), 100.0 * part(fitted, "inside", 1),
                     100.0 * part(fitted, "inside", 2), FRESH, 100.0 * bound, nu_of(fitted));
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    gess__page_text(page, "paper",
                    "Figure 3 of the paper: contours of a multivariate t approximation of a two-dimensional Gaussian, "
                    "and "
                    "an update of generalized elliptical slice sampling.");
    gess__page_text(page, "setup",
                    "Fits by ECME to %d points, as `gess fit` makes them; the update by the kernel gess with that T (ν "
                    "= 8 "
                    "where the fit found a Gaussian, which has no scale to draw). Nothing is scaled down.",
                    SAMPLE);
    if (count < 2) {
        gess__page_claim(page, GESS__NOT_JUDGED, "The t approximates the distribution.", "Cells were left out.");
        return GESS_OK;
    }
    const json_t *gaussian = cells[0].result, *skewed = cells[1].result;
    double off = gess__json_real(gaussian, "off");
    judge_contours(page, gaussian, "The contours of the fitted t approximate the Gaussian.", 0.05);
    gess__page_claim(page, off < 1e-9 ? GESS__HOLDS : GESS__FAILS,
                     "The new state lies on the ellipse of x and a point drawn from the Gaussian of scale s.",
                     "The furthest of %d updates is off by %.1e of its ellipse (bound: 1e-9).", UPDATES, off);
    judge_contours(page, skewed,
                   "(Beyond the paper's figure.) A t has the flexibility to capture the general allocation of "
                   "probability "
                   "mass, here of a skewed density.",
                   0.1);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < SHARES; k++)
            gess__page_data(page, json_pack("{s:s, s:o, s:f, s:f}", "sample", i == 0 ? "gaussian" : "skewed", "nu",
                                            json_is_number(json_object_get(cells[i].result, "nu"))
                                                ? json_real(gess__json_real(cells[i].result, "nu"))
                                                : json_null(),
                                            "contour", shares[k], "share_inside", part(cells[i].result, "inside", k)));
    return draw(r, gaussian, skewed, page, err);
}

const gess__figure gess__figure_t = {
    .name = "figure-t",
    .title = "A multivariate t fitted to a sample, and a GESS update",
    .help = "contours of the fitted t, and an update with it",
    .revision = 1,
    .plan = plan,
    .compute = compute,
    .make = make,
};
