/* Steps out and shrinks the interval of a slice along a line, for the kernels rdss and cwss and for coordinate slice
 * updates. */
#include "kernel/slice.h"

#include "kernel/tempered.h"

enum stage { LEFT, RIGHT, SHRINKING };

/* The state of a lane during one update. */
typedef struct lane {
    double height;    /* log density of the slice */
    double low, high; /* the interval */
    double at;        /* t of the proposal */
    int left, right;  /* remaining steps of each end */
    enum stage stage;
    uint32_t shrinks;
} lane;

typedef struct work {
    lane *lanes;        /* block */
    double *directions; /* block × dim */
} work;

static size_t lanes_size(size_t block)
{
    return (block * sizeof(lane) + sizeof(double) - 1) / sizeof(double);
}

static work carve(const gess__update *u)
{
    return (work){.lanes = (lane *)(void *)u->scratch, .directions = u->scratch + lanes_size(u->count)};
}

size_t gess__slice_state_size(size_t dim)
{
    (void)dim;
    return 0;
}

size_t gess__slice_scratch_size(size_t dim, size_t block)
{
    return lanes_size(block) + block * dim;
}

/* Sets the lane's next proposal: an end that may still step out, or a random point of the interval. */
static void aim(const gess__update *u, size_t j, lane *l)
{
    if (l->stage == LEFT && l->left == 0) l->stage = RIGHT;
    if (l->stage == RIGHT && l->right == 0) l->stage = SHRINKING;
    if (l->stage == SHRINKING) {
        double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_SLICE), 2 + l->shrinks);
        l->at = gess__fma(uniform, l->high - l->low, l->low);
    } else {
        l->at = l->stage == LEFT ? l->low : l->high;
    }
}

static void open_lane(const gess__update *u, size_t j, lane *l)
{
    gess__key key = gess__update_key(u, j, GESS__FOR_SLICE);
    double height, offset;
    gess__uniform_pairs(key, 0, 1, &key.chain, &height, &offset);
    if (GESS__MUTANT(SLICE_OFFSET)) offset = 0.0;
    int left = (int)(GESS__SLICE_STEPS * gess__uniform(key, 1)), right = GESS__SLICE_STEPS - 1 - left;
    if (GESS__MUTANT(SLICE_SPLIT)) left = right = GESS__SLICE_STEPS - 1;
    *l = (lane){.height = gess__tempered_here(u, j) + gess__log(height),
                .low = -offset * GESS__SLICE_WIDTH,
                .high = (1.0 - offset) * GESS__SLICE_WIDTH,
                .left = left,
                .right = right};
    aim(u, j, l);
}

void gess__slice_begin(gess__update *u, gess__slice_direction *direction)
{
    work w = carve(u);
    for (size_t j = 0; j < u->count; j++) {
        u->lane[j] = (uint32_t)j;
        direction(u, j, w.directions + j * u->target->dim);
        open_lane(u, j, &w.lanes[j]);
    }
    u->proposals = u->count;
}

void gess__slice_propose(gess__update *u)
{
    size_t dim = u->target->dim;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p];
        const double *x = u->chains->x + (u->first + j) * dim, *d = w.directions + j * dim;
        for (size_t i = 0; i < dim; i++) u->points[p * dim + i] = gess__fma(w.lanes[j].at, d[i], x[i]);
    }
}

/* Steps an end of the interval out if it is inside the slice, else fixes it. */
static void step_out(lane *l, int inside)
{
    int *left = l->stage == LEFT ? &l->left : &l->right;
    if (!inside) {
        *left = 0;
        return;
    }
    --*left;
    if (l->stage == LEFT)
        l->low -= GESS__SLICE_WIDTH;
    else
        l->high += GESS__SLICE_WIDTH;
}

/* Shrinks the interval to the rejected proposal. */
static void shrink(lane *l)
{
    int below = l->at < 0.0;
    if (GESS__MUTANT(SLICE_SIDE)) below = !below;
    double *end = below ? &l->low : &l->high;
    *end = GESS__MUTANT(SLICE_CUT) ? 0.0 : l->at;
    l->shrinks++;
}

int gess__slice_consume(gess__update *u, gess_error *err)
{
    size_t left = 0;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        uint32_t j = u->lane[p];
        lane *l = &w.lanes[j];
        double value;
        GESS_TRY(gess__tempered_there(u, p, &value, err));
        int inside = value > l->height;
        if (l->stage == SHRINKING && inside) {
            gess__tempered_move(u, p);
            continue;
        }
        if (l->stage == SHRINKING)
            shrink(l);
        else
            step_out(l, inside);
        if (l->shrinks >= GESS__MAX_SHRINKS) {
            u->tally.failures++;
            continue;
        }
        aim(u, j, l);
        u->lane[left++] = j;
    }
    gess__count_ended(u, u->proposals - left);
    u->proposals = left;
    return GESS_OK;
}
