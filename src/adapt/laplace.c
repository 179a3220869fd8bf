#include "adapt/laplace.h"

#include "base/tiles.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Newton steps; quick ones between two of them; attempts to find the lengths of directions; lengths of a step that are
 * tried; points of the window that two Ts are compared by, and how many at once. */
enum { MAX_STEPS = 7, MAX_QUICK = 12, MAX_SCALINGS = 14, LENGTHS = 12, WEIGHED = 4000, CHUNK = 64 };

/* One point in so many may be above the levels that are compared, and one below. */
enum { FEW_OF = 10 };

/* One in so many evaluations of warm-up, at most, goes into a climb. */
enum { SHARE = 5 };

/* A summit is reached where another step would bring less than NEAR, and the curvatures that differences find along
 * the directions of the last step are within a factor of ALIKE. */
#define NEAR 0.5
#define ALIKE 20.0

/* A quick step is taken where it should bring WORTH at least, and another after it where it brought a part of that. */
#define WORTH 1.0
#define PART 0.2

/* What is looked at: both ways along directions, to find their lengths and slopes; pairs of them; lengths of a step. */
enum look { ALONG, ACROSS, AHEAD, LOOKS };

/* How a climb stands, beside its arrays: all of it is in checkpoints, so that one that is stopped goes on where it
 * was. */
typedef struct progress {
    uint32_t look, steps, scalings, quick; /* quick steps since the last Newton step */
    double hope;                           /* what the quick step that is being taken should bring; 0: it is none */
    uint64_t evals;
    double value;          /* at the top */
    double ahead[LENGTHS]; /* log densities along the step */
} progress;

struct gess__laplace {
    gess__approx *t;
    /* of a climb */
    gess__ensemble *ensemble;
    const gess__record *record;
    progress at;
    int *finished;         /* the items of the look that are done: dim, or LENGTHS */
    double *top;           /* dim: the highest point so far */
    double *frame;         /* dim × dim, column-major: the directions that differences are taken along */
    double *up, *down;     /* dim: log densities one length along each of them, both ways */
    int *scaled;           /* dim: it has its length */
    double *curvature;     /* dim × dim: minus the second differences; then their eigenvectors */
    double *step;          /* dim */
    double *eigen;         /* dim */
    double *square, *work; /* dim × dim; of the eigenvectors, or of the triangular kernels */
    /* of a comparison */
    double *points, *z;      /* CHUNK × dim */
    double *deltas, *levels; /* WEIGHED */
};

/* Evaluations of a step. */
static uint64_t step_cost(size_t dim)
{
    return (uint64_t)dim * (dim + 1) + LENGTHS;
}

/* Evaluations that a climb may take. */
static uint64_t budget(const gess__ensemble *e)
{
    const gess__warmup *u = &e->warmup;
    return (u->fixed != GESS_AUTO ? u->fixed * e->chains.count : u->max_evals) / SHARE;
}

int gess__laplace_affordable(const gess__ensemble *e)
{
    return 2 * step_cost(e->target.dim) <= budget(e);
}

static size_t most_items(size_t dim)
{
    return dim > LENGTHS ? dim : LENGTHS;
}

int gess__laplace_new(gess__laplace **summit, const gess__ensemble *e, gess_error *err)
{
    size_t dim = e->target.dim, eigen = gess__eigen_work(dim), triangle = gess__triangular_scratch(dim);
    GESS_ALLOC(summit, 1, err);
    gess__laplace *s = *summit;
    GESS_TRY(gess__approx_new(&s->t, dim, err));
    GESS_ALLOC(&s->finished, most_items(dim), err);
    GESS_ALLOC(&s->top, dim, err);
    GESS_ALLOC(&s->frame, dim * dim, err);
    GESS_ALLOC(&s->up, dim, err);
    GESS_ALLOC(&s->down, dim, err);
    GESS_ALLOC(&s->scaled, dim, err);
    GESS_ALLOC(&s->curvature, dim * dim, err);
    GESS_ALLOC(&s->step, dim, err);
    GESS_ALLOC(&s->eigen, dim, err);
    GESS_ALLOC(&s->square, dim * dim, err);
    GESS_ALLOC(&s->work, eigen > triangle ? eigen : triangle, err);
    GESS_ALLOC(&s->points, CHUNK * dim, err);
    GESS_ALLOC(&s->z, CHUNK * dim, err);
    GESS_ALLOC(&s->deltas, WEIGHED, err);
    GESS_ALLOC(&s->levels, WEIGHED, err);
    return GESS_OK;
}

void gess__laplace_free(gess__laplace *s)
{
    if (s == NULL) return;
    gess__approx_free(s->t);
    free(s->finished);
    free(s->top);
    free(s->frame);
    free(s->up);
    free(s->down);
    free(s->scaled);
    free(s->curvature);
    free(s->step);
    free(s->eigen);
    free(s->square);
    free(s->work);
    free(s->points);
    free(s->z);
    free(s->deltas);
    free(s->levels);
    free(s);
}

void gess__laplace_archive(gess__laplace *s, gess__archive *a)
{
    size_t dim = s->t->dim;
    GESS_ARCHIVE(a, &s->at);
    gess__archive_bytes(a, s->finished, most_items(dim) * sizeof *s->finished);
    gess__archive_bytes(a, s->top, dim * sizeof *s->top);
    gess__archive_bytes(a, s->frame, dim * dim * sizeof *s->frame);
    gess__archive_bytes(a, s->up, dim * sizeof *s->up);
    gess__archive_bytes(a, s->down, dim * sizeof *s->down);
    gess__archive_bytes(a, s->scaled, dim * sizeof *s->scaled);
    gess__archive_bytes(a, s->curvature, dim * dim * sizeof *s->curvature);
    gess__archive_bytes(a, s->step, dim * sizeof *s->step);
    if (s->at.look >= LOOKS) a->bad = 1;
}

/* ---- evaluations, on the team ---- */

/* Log densities of the n points of a worker; where one cannot be used, -inf. */
static int ask(gess__laplace *s, unsigned worker, size_t n, gess_error *err)
{
    gess__update *u = &s->ensemble->updates[worker];
    if (s->record->stop != NULL && atomic_load(s->record->stop)) return gess__fail(err, GESS_ERR_STOPPED, "stopped");
    GESS_TRY(gess__target_evaluate(&s->ensemble->target, worker, n, u->points, u->values, NULL, u->mapped, err));
    for (size_t i = 0; i < n; i++)
        if (!(u->values[i] < INFINITY)) u->values[i] = -INFINITY;
    return GESS_OK;
}

/* So many lengths along direction i, and along direction j, from the top. */
static void put(const gess__laplace *s, double along, size_t i, double across, size_t j, double *point)
{
    size_t dim = s->ensemble->target.dim;
    const double *first = s->frame + i * dim, *second = s->frame + j * dim;
    for (size_t k = 0; k < dim; k++) point[k] = gess__fma(across, second[k], gess__fma(along, first[k], s->top[k]));
}

/* Both ways along direction `item`, unless that is known. */
static int look_along(gess__laplace *s, unsigned worker, size_t item, gess_error *err)
{
    const gess__update *u = &s->ensemble->updates[worker];
    if (s->scaled[item]) return GESS_OK;
    put(s, 1.0, item, 0.0, item, u->points);
    GESS_TRY(ask(s, worker, 1, err));
    s->up[item] = u->values[0];
    put(s, -1.0, item, 0.0, item, u->points);
    GESS_TRY(ask(s, worker, 1, err));
    s->down[item] = u->values[0];
    return GESS_OK;
}

/* Minus the second differences of direction `item` with itself and with all later ones: both ways, so that third
 * derivatives cancel. */
static int look_across(gess__laplace *s, unsigned worker, size_t item, gess_error *err)
{
    const gess__update *u = &s->ensemble->updates[worker];
    size_t dim = s->ensemble->target.dim, block = s->ensemble->block, count = 2 * (dim - item - 1);
    double own = s->up[item] + s->down[item] - 2.0 * s->at.value, *column = s->curvature + item * dim;
    column[item] = -own;
    for (size_t k = item + 1; k < dim; k++) column[k] = 0.5 * (own + s->up[k] + s->down[k]);
    for (size_t done = 0; done < count; done += block) {
        size_t some = count - done < block ? count - done : block;
        for (size_t q = 0; q < some; q++) {
            double side = (done + q) % 2 == 0 ? 1.0 : -1.0;
            put(s, side, item, side, item + 1 + (done + q) / 2, u->points + q * dim);
        }
        GESS_TRY(ask(s, worker, some, err));
        for (size_t q = 0; q < some; q++) column[item + 1 + (done + q) / 2] -= 0.5 * u->values[q];
    }
    return GESS_OK;
}

static double length_of(size_t number)
{
    return ldexp(2.0, -(int)number);
}

/* The step, 2 to 2^(1 - item) times as long. */
static int look_ahead(gess__laplace *s, unsigned worker, size_t item, gess_error *err)
{
    const gess__update *u = &s->ensemble->updates[worker];
    for (size_t k = 0; k < s->ensemble->target.dim; k++)
        u->points[k] = gess__fma(length_of(item), s->step[k], s->top[k]);
    GESS_TRY(ask(s, worker, 1, err));
    s->at.ahead[item] = u->values[0];
    return GESS_OK;
}

static int look_at(void *data, unsigned worker, size_t item, gess_error *err)
{
    static int (*const looks[LOOKS])(gess__laplace *, unsigned, size_t, gess_error *) =
        {[ALONG] = look_along, [ACROSS] = look_across, [AHEAD] = look_ahead};
    gess__laplace *s = data;
    if (s->finished[item]) return GESS_OK;
    GESS_TRY(looks[s->at.look](s, worker, item, err));
    s->finished[item] = 1;
    return GESS_OK;
}

/* Evaluations of the present look. */
static uint64_t look_cost(const gess__laplace *s)
{
    uint64_t dim = s->ensemble->target.dim, left = 0;
    for (size_t k = 0; k < dim; k++) left += !s->scaled[k];
    return s->at.look == ALONG ? 2 * left : s->at.look == ACROSS ? dim * (dim - 1) : LENGTHS;
}

static void look_next(gess__laplace *s, enum look look)
{
    s->at.look = look;
    memset(s->finished, 0, most_items(s->ensemble->target.dim) * sizeof *s->finished);
}

/* Takes the look, or what is left of it, and counts it. */
static int look(gess__laplace *s, gess_error *err)
{
    gess__ensemble *e = s->ensemble;
    GESS_TRY(gess__team_run(e->team, s->at.look == AHEAD ? LENGTHS : e->target.dim, look_at, s, err));
    s->at.evals += look_cost(s);
    return GESS_OK;
}

/* Who watches the run hears of the evaluations so far. */
static int tell(const gess__laplace *s, gess_error *err)
{
    const gess__ensemble *e = s->ensemble;
    gess__segment segment = {.count = e->kept, .iterations = gess__ensemble_done(e), .evals = s->at.evals};
    return s->record->sink != NULL ? s->record->sink(s->record->user, &segment, err) : GESS_OK;
}

/* ---- a climb ---- */

/* From the highest chain, with directions along the coordinates, as long as chains differ. */
static void begin(gess__laplace *s)
{
    const gess__chains *c = &s->ensemble->chains;
    size_t dim = c->dim, best = 0;
    double count = (double)c->count;
    for (size_t i = 1; i < c->count; i++)
        if (c->value[i] > c->value[best]) best = i;
    s->at = (progress){.value = c->value[best]};
    memcpy(s->top, c->x + best * dim, dim * sizeof *s->top);
    memset(s->scaled, 0, dim * sizeof *s->scaled);
    memset(s->frame, 0, dim * dim * sizeof *s->frame);
    for (size_t k = 0; k < dim; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < c->count; i++) mean += c->x[i * dim + k] / count;
        for (size_t i = 0; i < c->count; i++) square += (c->x[i * dim + k] - mean) * (c->x[i * dim + k] - mean);
        double sd = sqrt(square / count);
        s->frame[k + k * dim] = sd > 0.0 ? 0.3 * sd : 1e-3 * fmax(1.0, fabs(mean));
    }
    look_next(s, ALONG);
}

/* Gives directions the length at which the log density falls by a half, about, on average of both ways. How many have
 * none yet. */
static size_t scale(gess__laplace *s)
{
    size_t dim = s->ensemble->target.dim, left = 0;
    int last = s->at.scalings + 1 == MAX_SCALINGS; /* then any length serves: the next directions will be others */
    for (size_t k = 0; k < dim; k++) {
        double fall = 2.0 * s->at.value - s->up[k] - s->down[k], factor = 5.0; /* where it rises, or is flat */
        if (!s->scaled[k]) s->scaled[k] = (fall > 0.25 && fall < 4.0) || (last && isfinite(fall));
        if (s->scaled[k]) continue;
        if (fall > 0.0) factor = fall < INFINITY ? fmin(fmax(1.0 / sqrt(fall), 0.03), 10.0) : 0.1;
        for (size_t j = 0; j < dim; j++) s->frame[j + k * dim] *= factor;
        left++;
    }
    return left;
}

/* New directions, along which the second differences do not mix, each as long as its curvature says, and the step to
 * where the slope vanishes if the log density is quadratic; where it bends up, as if it bent down. *gain: what the step
 * brings then; *unlike: the largest curvature over the smallest, infinite where one is not of a summit. 0 where nothing
 * can be made of the differences. */
static int turn(gess__laplace *s, double *gain, double *unlike)
{
    size_t dim = s->ensemble->target.dim;
    double most = 0.0, least = INFINITY;
    int bent = 1;
    for (size_t i = 0; i < dim * dim; i++)
        if (!isfinite(s->curvature[i])) s->curvature[i] = 0.0;
    if (!gess__symmetric_eigen(dim, s->curvature, s->eigen, s->work)) return 0;
    for (size_t i = 0; i < dim; i++) {
        bent = bent && s->eigen[i] > 0.0;
        s->eigen[i] = fabs(s->eigen[i]);
        most = fmax(most, s->eigen[i]);
    }
    if (!(most > 0.0)) return 0;
    gess__product(false, dim, dim, dim, s->frame, s->curvature, s->square);
    memset(s->step, 0, dim * sizeof *s->step);
    *gain = 0.0;
    for (size_t i = 0; i < dim; i++) {
        const double *axis = s->curvature + i * dim;
        double curvature = fmax(s->eigen[i], 1e-9 * most), length = 1.0 / sqrt(curvature), slope = 0.0;
        least = fmin(least, curvature);
        for (size_t k = 0; k < dim; k++) slope += 0.5 * axis[k] * (s->up[k] - s->down[k]);
        slope *= length;
        *gain += 0.5 * slope * slope;
        for (size_t k = 0; k < dim; k++) {
            s->frame[k + i * dim] = s->square[k + i * dim] * length;
            s->step[k] += s->frame[k + i * dim] * slope;
        }
    }
    *unlike = bent ? most / least : INFINITY;
    return 1;
}

/* The step that the slopes and curvatures along the directions alone suggest; returns what it should bring. It costs a
 * Dth part of a Newton step, and goes most of the way where the directions are those of an earlier one. */
static double aim(gess__laplace *s)
{
    size_t dim = s->ensemble->target.dim;
    double gain = 0.0;
    memset(s->step, 0, dim * sizeof *s->step);
    for (size_t i = 0; i < dim; i++) {
        double slope = 0.5 * (s->up[i] - s->down[i]), fall = 2.0 * s->at.value - s->up[i] - s->down[i];
        double length = slope / fmax(fabs(fall), 0.25);
        gain += 0.5 * slope * length;
        for (size_t k = 0; k < dim; k++) s->step[k] += s->frame[k + i * dim] * length;
    }
    return gain;
}

/* Goes where the step leads highest, if it leads up at all; returns by how much. */
static double take_step(gess__laplace *s)
{
    size_t best = LENGTHS;
    double before = s->at.value;
    for (size_t i = 0; i < LENGTHS; i++) {
        if (!(s->at.ahead[i] > s->at.value)) continue;
        best = i;
        s->at.value = s->at.ahead[i];
    }
    for (size_t k = 0; best < LENGTHS && k < s->ensemble->target.dim; k++)
        s->top[k] = gess__fma(length_of(best), s->step[k], s->top[k]);
    return s->at.value - before;
}

/* T of the summit: where the last step would lead, Σ from the directions. */
static void settle(gess__laplace *s)
{
    size_t dim = s->ensemble->target.dim;
    for (size_t k = 0; k < dim; k++) s->t->mu[k] = s->top[k] + s->step[k];
    gess__self_product(dim, dim, 1.0, s->frame, s->square);
    gess__ridged_cholesky(dim, s->square, s->eigen, s->t->mu, s->t);
}

/* What follows from a look: the next one, or none, and whether the summit is reached. */
static int conclude(gess__laplace *s, int *found)
{
    size_t dim = s->ensemble->target.dim;
    double gain = 0.0, unlike = INFINITY;
    switch (s->at.look) {
    case ALONG:
        if (scale(s) > 0) {
            look_next(s, ALONG);
            return ++s->at.scalings < MAX_SCALINGS;
        }
        s->at.hope = s->at.steps > 0 && s->at.quick < MAX_QUICK ? aim(s) : 0.0;
        if (!(s->at.hope > WORTH)) s->at.hope = 0.0;
        look_next(s, s->at.hope > 0.0 ? AHEAD : ACROSS);
        return 1;
    case ACROSS:
        gess__blas_begin();
        int turned = turn(s, &gain, &unlike);
        *found = turned && gain < NEAR && unlike < ALIKE;
        if (*found) settle(s);
        gess__blas_end();
        look_next(s, AHEAD);
        return turned && !*found;
    default:
        gain = take_step(s);
        int quick = s->at.hope > 0.0;
        s->at.quick = !quick ? 0 : gain > fmax(PART * s->at.hope, WORTH) ? s->at.quick + 1 : MAX_QUICK;
        s->at.hope = 0.0;
        s->at.scalings = 0;
        memset(s->scaled, 0, dim * sizeof *s->scaled);
        look_next(s, ALONG);
        return quick || ++s->at.steps < MAX_STEPS;
    }
}

static int climb(gess__laplace *s, int *found, gess_error *err)
{
    uint64_t most = budget(s->ensemble);
    do {
        if (s->at.evals + look_cost(s) > most) return GESS_OK;
        GESS_TRY(look(s, err));
        GESS_TRY(tell(s, err));
    } while (conclude(s, found));
    return GESS_OK;
}

int gess__laplace_search(gess__ensemble *e, const gess__record *record, gess_error *err)
{
    gess__laplace *s = e->summit;
    gess__warmup *u = &e->warmup;
    gess_error error = {0};
    int found = 0;
    if (s == NULL || u->stages > 0 || !gess__laplace_affordable(e)) return GESS_OK;
    s->ensemble = e;
    s->record = record;
    if (!u->climbing) begin(s);
    u->climbing = 1;
    int status = climb(s, &found, &error);
    if (status != GESS_OK && status != GESS_ERR_MODEL) {
        if (err != NULL) *err = error;
        return status;
    }
    u->climbing = 0;
    u->summit = found;
    u->climbed = s->at.evals;
    e->tally.evals += s->at.evals;
    u->before.evals += s->at.evals; /* they are none of the stage's updates */
    return GESS_OK;
}

/* ---- a choice ---- */

gess__approx *gess__laplace_approx(gess__laplace *s)
{
    return s->t;
}

gess__approx *gess__laplace_t(const gess__ensemble *e)
{
    /* a map has moved everything else */
    return e->summit != NULL && e->warmup.summit && e->warmup.layers == 0 ? e->summit->t : NULL;
}

/* Which point of the window is number i of n. */
static size_t chosen(const gess__ensemble *e, size_t i, size_t n)
{
    return i * (e->window.draws * e->chains.count) / n;
}

/* Squared distances of n points of the window. */
static void measure(gess__ensemble *e, const gess__approx *t, size_t n)
{
    gess__laplace *s = e->summit;
    size_t dim = e->target.dim;
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        for (size_t i = 0; i < some; i++)
            memcpy(s->points + i * dim, e->window.points + chosen(e, done + i, n) * dim, dim * sizeof *s->points);
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, some, s->points, s->z, s->work);
        for (size_t i = 0; i < some; i++) s->deltas[done + i] = gess__dot(dim, s->z + i * dim, s->z + i * dim);
    }
}

/* Between which levels log π − log T most of these points are: how far these are apart. */
static double spread(gess__ensemble *e, const gess__approx *t, double nu, size_t n)
{
    gess__laplace *s = e->summit;
    gess__approx with = *t;
    with.nu = nu;
    for (size_t i = 0; i < n; i++)
        s->levels[i] = e->window.values[chosen(e, i, n)] - gess__approx_log_t(&with, s->deltas[i]);
    gess__sort(n, s->levels);
    return s->levels[n - 1 - n / FEW_OF] - s->levels[n / FEW_OF];
}

/* Chains that are far out want heavy tails, and are what the window is made of then. */
int gess__laplace_prefer(gess__ensemble *e)
{
    static const double tails[] = {INFINITY, 100.0, 30.0, 10.0, 5.0, 3.0};
    gess__approx *t = gess__laplace_t(e);
    size_t points = e->window.draws * e->chains.count, n = points < WEIGHED ? points : WEIGHED;
    int gaussian = (e->kernel->needs & GESS__IGNORES_TAILS) != 0;
    if (t == NULL || e->mixture->count > 1) return 0;
    measure(e, e->approx, n);
    double fitted = spread(e, e->approx, gaussian ? INFINITY : e->approx->nu, n), best = INFINITY;
    measure(e, t, n);
    for (size_t i = 0; i < (gaussian ? 1 : sizeof tails / sizeof *tails); i++) {
        double now = spread(e, t, tails[i], n);
        if (!(now < best)) continue;
        best = now;
        t->nu = tails[i];
    }
    if (!(best < fitted)) return 0;
    gess__approx_copy(e->approx, t);
    return 1;
}
