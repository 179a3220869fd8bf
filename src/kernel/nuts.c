/* The no-U-turn sampler, multinomial.
 *
 * M. D. Hoffman & A. Gelman, "The No-U-Turn Sampler", JMLR 15 (2014), with the points of a trajectory weighted by their
 * densities: M. Betancourt, "A conceptual introduction to Hamiltonian Monte Carlo", arXiv 1701.02434, appendix A. A
 * trajectory of leapfrog steps is doubled, forwards or backwards at random, until it or a balanced part of it turns
 * back, or a step's energy runs away (divergence). Within the new half, each point replaces the candidate with a
 * probability equal to its share of the weight so far; the new half's candidate replaces the old one with probability
 * min(1, new / old).
 *
 * The tree is walked without recursion, one leapfrog step per round, so that one call evaluates the gradients of all
 * lanes: the momenta at the beginnings of the open balanced parts are kept, one per depth, and compared with those at
 * the ends (D. Phan, N. Pradhan & M. Jankowiak, "Composable effects for flexible and accelerated probabilistic
 * programming in NumPyro", arXiv 1912.11554, section 3.1). A part turns back if the sum of its momenta, with those of
 * its ends halved, points against the momentum of either end.
 *
 * Step and metric are learned in warm-up (nuts_metric.h) and then fixed: sampling is exact. */
#include "base/tiles.h"
#include "kernel/nuts_metric.h"
#include "kernel/tempered.h"

enum { MAX_DEPTH = 10 };
#define MAX_ENERGY 1000.0

/* ---- the state of a chain: stepper, gradient at its point, metric, window ---- */

typedef struct state {
    gess__stepper *stepper;
    double *gradient, *metric, *window;
} state;

enum { STEPPER = sizeof(gess__stepper) / sizeof(double) };

static state state_of(const gess__update *u, const gess__metric *m, size_t j)
{
    size_t dim = u->target->dim;
    double *at = gess__tempered_state(u, j);
    return (state){.stepper = (gess__stepper *)(void *)at,
                   .gradient = at + STEPPER,
                   .metric = at + STEPPER + dim,
                   .window = at + STEPPER + dim + m->size(dim)};
}

static size_t state_size(const gess__metric *m, size_t dim)
{
    return STEPPER + dim + m->size(dim) + m->window_size(dim);
}

/* ---- the state of a lane during one update ---- */

/* An end of a trajectory: a point with its momentum and gradient. */
typedef struct end {
    double *x, *p, *gradient;
} end;

/* A point that may become the chain's next state. */
typedef struct candidate {
    double *x, *gradient, *value, *blobs; /* blobs: NULL if the model has none */
} candidate;

typedef struct lane {
    double joint;                  /* log density and kinetic energy at the beginning */
    double weight, half_weight;    /* logs of the sums of weights: trajectory, new half */
    double value, half_value;      /* log densities of the candidates */
    double step;                   /* its sign is the direction */
    double acceptance;             /* summed */
    uint32_t points, leaf, leaves; /* points of the trajectory so far; leaves of the new half so far and in total */
    uint32_t depth;
    int opening; /* the proposal is the chain's point itself, for its gradient */
} lane;

enum { ROWS = 14 + 2 * MAX_DEPTH, HELD_BLOBS = 2 /* of both candidates */ };

typedef struct work {
    lane *l;
    end ends[2]; /* backwards, forwards */
    candidate whole, half;
    double *sum, *half_sum;      /* of momenta */
    double *starts, *starts_sum; /* MAX_DEPTH × dim each: momenta where open parts begin, and half_sum there */
    double *row, *other;         /* scratch */
} work;

static size_t lanes_size(size_t block)
{
    return (block * sizeof(lane) + sizeof(double) - 1) / sizeof(double);
}

static size_t scratch_size(size_t dim, size_t block)
{
    return lanes_size(block) + block * ROWS * dim;
}

static work carve(const gess__update *u, size_t j)
{
    size_t dim = u->target->dim;
    lane *l = (lane *)(void *)u->scratch + j;
    double *at = u->scratch + lanes_size(u->count) + j * ROWS * dim;
    size_t blobs = u->chains->blob_count;
    double *whole_blobs = u->held_blobs != NULL ? u->held_blobs + j * HELD_BLOBS * blobs : NULL;
    return (
        work){.l = l,
              .ends = {{at, at + dim, at + 2 * dim}, {at + 3 * dim, at + 4 * dim, at + 5 * dim}},
              .whole = {at + 6 * dim, at + 7 * dim, &l->value, whole_blobs},
              .half = {at + 8 * dim, at + 9 * dim, &l->half_value, whole_blobs != NULL ? whole_blobs + blobs : NULL},
              .sum = at + 10 * dim,
              .half_sum = at + 11 * dim,
              .row = at + 12 * dim,
              .other = at + 13 * dim,
              .starts = at + 14 * dim,
              .starts_sum = at + (14 + MAX_DEPTH) * dim};
}

static void copy(size_t dim, double *to, const double *from)
{
    memcpy(to, from, dim * sizeof *to);
}

/* Row i of an array of blobs; NULL if there are none. */
static const double *blobs_of(const gess__update *u, const double *blobs, size_t i)
{
    return blobs != NULL ? blobs + i * u->chains->blob_count : NULL;
}

static void take(const gess__update *u, const candidate *c, const double *x, const double *gradient, double value,
                 const double *blobs)
{
    size_t dim = u->target->dim;
    copy(dim, c->x, x);
    copy(dim, c->gradient, gradient);
    *c->value = value;
    if (blobs != NULL && c->blobs != NULL) copy(u->chains->blob_count, c->blobs, blobs);
}

static end *moving(work *w)
{
    return &w->ends[w->l->step > 0.0];
}

/* log(e^a + e^b); a may be -inf. */
static double log_sum(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return high + gess__log1p(gess__exp(low - high));
}

/* ---- trajectories ---- */

/* Starts a new half in a random direction. */
static void open_half(const gess__update *u, const gess__metric *m, size_t j, work *w)
{
    lane *l = w->l;
    double forwards = gess__uniform(gess__update_key(u, j, GESS__FOR_SLICE), 2 * l->depth);
    double step = gess__exp(state_of(u, m, j).stepper->log_step);
    l->step = forwards < 0.5 ? step : -step;
    l->leaf = 0;
    l->leaves = 1u << l->depth;
    l->half_weight = -INFINITY;
    memset(w->half_sum, 0, u->target->dim * sizeof *w->half_sum);
}

static void open_trajectory(const gess__update *u, const gess__metric *m, size_t j)
{
    size_t dim = u->target->dim, chain = u->first + j;
    const double *x = u->chains->x + chain * dim, *gradient = state_of(u, m, j).gradient;
    work w = carve(u, j);
    gess__normals(gess__update_key(u, j, GESS__FOR_NORMALS), dim, w.sum);
    *w.l = (lane){.joint = gess__tempered_here(u, j) - 0.5 * gess__dot(dim, w.sum, w.sum)};
    for (int side = 0; side < 2; side++) {
        copy(dim, w.ends[side].x, x);
        copy(dim, w.ends[side].p, w.sum);
        copy(dim, w.ends[side].gradient, gradient);
    }
    take(u, &w.whole, x, gradient, u->chains->value[chain], blobs_of(u, u->chains->blobs, chain));
    open_half(u, m, j, &w);
}

/* p += ε/2 Lᵀ ∇, where ∇ is the gradient of the tempered log density. */
static void half_kick(const gess__update *u, const gess__metric *m, size_t j, work *w)
{
    size_t dim = u->target->dim;
    end *e = moving(w);
    double factor = 0.5 * w->l->step * gess__tempered_power(u, j);
    m->transposed(dim, state_of(u, m, j).metric, e->gradient, w->row);
    for (size_t i = 0; i < dim; i++) e->p[i] = gess__fma(factor, w->row[i], e->p[i]);
}

static void drift(const gess__update *u, const gess__metric *m, size_t j, work *w)
{
    size_t dim = u->target->dim;
    end *e = moving(w);
    m->product(dim, state_of(u, m, j).metric, e->p, w->row);
    for (size_t i = 0; i < dim; i++) e->x[i] = gess__fma(w->l->step, w->row[i], e->x[i]);
}

/* Whether a part turns back, given the momenta at its ends and the sum of all its momenta. */
static int turns(size_t dim, const double *first, const double *last, const double *sum)
{
    double squares, other_squares, product;
    gess__dots(dim, first, last, &squares, &other_squares, &product);
    return !(gess__dot(dim, sum, first) - 0.5 * (squares + product) > 0.0 &&
             gess__dot(dim, sum, last) - 0.5 * (other_squares + product) > 0.0);
}

static uint32_t ones(uint32_t n)
{
    return (uint32_t)__builtin_popcount(n);
}

/* Whether a balanced part of the new half that ends at the present leaf turns back. Leaves are numbered from 0: leaf n
 * ends as many parts as n has trailing ones in binary; even leaves begin parts. */
static int part_turns(size_t dim, work *w, const double *p)
{
    uint32_t n = w->l->leaf, at = ones(n >> 1);
    if (n % 2 == 0) {
        copy(dim, w->starts + at * dim, p);
        copy(dim, w->starts_sum + at * dim, w->half_sum);
        return 0;
    }
    if (GESS__MUTANT(NUTS_PARTS)) return 0;
    for (uint32_t parts = ones(n ^ (n + 1)) - 1; parts > 0; parts--, at--) {
        const double *start = w->starts + at * dim, *before = w->starts_sum + at * dim;
        for (size_t i = 0; i < dim; i++) w->row[i] = w->half_sum[i] - before[i] + start[i];
        if (turns(dim, start, p, w->row)) return 1;
    }
    return 0;
}

/* Joins the complete new half to the trajectory. Returns whether the trajectory is complete. */
static int close_half(const gess__update *u, size_t j, work *w)
{
    size_t dim = u->target->dim;
    lane *l = w->l;
    double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_SLICE), 2 * l->depth + 1);
    if (l->half_weight - l->weight > gess__log(uniform) || GESS__MUTANT(NUTS_GREEDY))
        take(u, &w->whole, w->half.x, w->half.gradient, l->half_value, w->half.blobs);
    l->weight = log_sum(l->weight, l->half_weight);
    for (size_t i = 0; i < dim; i++) w->sum[i] += w->half_sum[i];
    l->depth++;
    return l->depth == MAX_DEPTH || turns(dim, w->ends[0].p, w->ends[1].p, w->sum);
}

/* Adds the point of a leapfrog step, proposal p, with weight e^gain. Returns whether the trajectory is complete. */
static int add_leaf(const gess__update *u, const gess__metric *m, size_t p, work *w, double gain)
{
    size_t dim = u->target->dim, j = u->lane[p];
    lane *l = w->l;
    const end *e = moving(w);
    double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_TREE), l->points - 1);
    l->half_weight = log_sum(l->half_weight, gain);
    if (gain - l->half_weight >= gess__log(uniform) || GESS__MUTANT(NUTS_LAST))
        take(u, &w->half, e->x, e->gradient, u->values[p], blobs_of(u, u->blobs, p));
    for (size_t i = 0; i < dim; i++) w->half_sum[i] += e->p[i];
    if (part_turns(dim, w, e->p)) return 1;
    if (++l->leaf < l->leaves) return 0;
    if (close_half(u, j, w)) return 1;
    open_half(u, m, j, w);
    return 0;
}

/* ---- warm-up ---- */

static void learn(const gess__update *u, const gess__metric *m, size_t j, work *w)
{
    size_t dim = u->target->dim;
    state s = state_of(u, m, j);
    if (u->phase != GESS__WARMING) return;
    gess__stepper_learn(s.stepper, dim, w->l->acceptance / (double)w->l->points);
    if (gess__window_holds(u->warmup, u->iteration)) m->add(dim, s.window, u->chains->x + (u->first + j) * dim, w->row);
    if (!gess__window_ends(u->warmup, u->iteration)) return;
    m->close(dim, s.window, s.metric, w->row);
    memset(s.window, 0, m->window_size(dim) * sizeof *s.window);
    gess__stepper_restart(s.stepper, dim);
}

static void finish(const gess__update *u, const gess__metric *m, size_t j)
{
    size_t dim = u->target->dim, chain = u->first + j;
    work w = carve(u, j);
    copy(dim, u->chains->x + chain * dim, w.whole.x);
    copy(dim, state_of(u, m, j).gradient, w.whole.gradient);
    u->chains->value[chain] = w.l->value;
    if (w.whole.blobs != NULL)
        copy(u->chains->blob_count, u->chains->blobs + chain * u->chains->blob_count, w.whole.blobs);
    learn(u, m, j, &w);
}

/* ---- the three steps ---- */

static void begin(gess__update *u, const gess__metric *m)
{
    size_t dim = u->target->dim;
    for (size_t j = 0; j < u->count; j++) {
        state s = state_of(u, m, j);
        u->lane[j] = (uint32_t)j;
        if (s.stepper->started == 0.0) {
            m->reset(dim, s.metric);
            gess__stepper_start(s.stepper, dim);
        }
        if (u->phase != GESS__WARMING) gess__stepper_end(s.stepper);
        if (u->rebind)
            *carve(u, j).l = (lane){.opening = 1};
        else
            open_trajectory(u, m, j);
    }
    u->proposals = u->count;
}

static void propose(gess__update *u, const gess__metric *m)
{
    size_t dim = u->target->dim;
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p];
        work w = carve(u, j);
        if (w.l->opening) {
            copy(dim, u->points + p * dim, u->chains->x + (u->first + j) * dim);
            continue;
        }
        half_kick(u, m, j, &w);
        drift(u, m, j, &w);
        copy(dim, u->points + p * dim, moving(&w)->x);
    }
}

/* Completes a leapfrog step. *done: the trajectory ends with it. */
static int arrive(gess__update *u, const gess__metric *m, size_t p, int *done, gess_error *err)
{
    size_t dim = u->target->dim, j = u->lane[p];
    work w = carve(u, j);
    end *e = moving(&w);
    double value;
    GESS_TRY(gess__tempered_there(u, p, &value, err));
    w.l->points++;
    double gain = -INFINITY;
    if (value > -INFINITY) { /* outside the support there is no gradient */
        copy(dim, e->gradient, u->gradients + p * dim);
        half_kick(u, m, j, &w);
        gain = value - 0.5 * gess__dot(dim, e->p, e->p) - w.l->joint;
    }
    if (!(gain > -MAX_ENERGY)) {
        u->tally.divergent++;
        *done = 1;
        return GESS_OK;
    }
    if (GESS__MUTANT(NUTS_KINETIC)) gain = value - gess__tempered_here(u, j);
    w.l->acceptance += gain < 0.0 ? gess__exp(gain) : 1.0;
    *done = add_leaf(u, m, p, &w, gain);
    return GESS_OK;
}

static int consume(gess__update *u, const gess__metric *m, gess_error *err)
{
    size_t left = 0, dim = u->target->dim;
    for (size_t p = 0; p < u->proposals; p++) {
        uint32_t j = u->lane[p];
        int done = 0;
        if (carve(u, j).l->opening) {
            copy(dim, state_of(u, m, j).gradient, u->gradients + p * dim);
            open_trajectory(u, m, j);
        } else {
            GESS_TRY(arrive(u, m, p, &done, err));
        }
        if (done)
            finish(u, m, j);
        else
            u->lane[left++] = j;
    }
    gess__count_ended(u, u->proposals - left);
    u->proposals = left;
    return GESS_OK;
}

/* ---- the two kernels ---- */

static uint64_t warmup(size_t dim)
{
    (void)dim;
    return 1000;
}

#define NUTS(name, metric)                                      \
    static size_t name##_state_size(size_t dim)                 \
    {                                                           \
        return state_size(&(metric), dim);                      \
    }                                                           \
    static void name##_begin(gess__update *u)                   \
    {                                                           \
        begin(u, &(metric));                                    \
    }                                                           \
    static void name##_propose(gess__update *u)                 \
    {                                                           \
        propose(u, &(metric));                                  \
    }                                                           \
    static int name##_consume(gess__update *u, gess_error *err) \
    {                                                           \
        return consume(u, &(metric), err);                      \
    }
NUTS(diagonal, gess__metric_diagonal)
NUTS(dense, gess__metric_dense)

const gess__kernel gess__kernel_nuts = {
    .name = "nuts",
    .help = "no-U-turn sampler with a diagonal metric; needs a gradient",
    .needs = GESS__NEEDS_GRADIENT,
    .warmup = warmup,
    .state_size = diagonal_state_size,
    .scratch_size = scratch_size,
    .held_blobs = HELD_BLOBS,
    .begin = diagonal_begin,
    .propose = diagonal_propose,
    .consume = diagonal_consume,
};

const gess__kernel gess__kernel_nuts_dense = {
    .name = "nuts-dense",
    .help = "no-U-turn sampler with a dense metric; needs a gradient",
    .needs = GESS__NEEDS_GRADIENT,
    .warmup = warmup,
    .state_size = dense_state_size,
    .scratch_size = scratch_size,
    .held_blobs = HELD_BLOBS,
    .begin = dense_begin,
    .propose = dense_propose,
    .consume = dense_consume,
};
