/* Mixtures of Gaussians and multivariate t with diagonal scales and equal correlations. */
#include "modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 25 };

typedef struct part {
    double weight;
    int nu;     /* degrees of freedom; 0: Gaussian */
    double cor; /* correlation of any two coordinates */
    double centre[MAX_DIM], scale[MAX_DIM];
    double constant; /* of its weighted log density */
} part;

typedef struct mixture {
    size_t count;
    part parts[MAX_PARTS];
} mixture;

/* ---- the density ---- */

static double log_part(const part *p, size_t dim, const double *x)
{
    double squares = 0.0, sum = 0.0;
    for (size_t i = 0; i < dim; i++) {
        double z = (x[i] - p->centre[i]) / p->scale[i];
        squares += z * z;
        sum += z;
    }
    double d = (double)dim, distance = (squares - p->cor * sum * sum / (1.0 + (d - 1.0) * p->cor)) / (1.0 - p->cor);
    return p->constant -
           (p->nu == 0 ? 0.5 * distance : 0.5 * (p->nu + d) * log1p(distance / p->nu)); /* a t where nu > 0 */
}

double logp_mixture(const family *f, const double *x)
{
    const mixture *m = f->constants;
    double value = -INFINITY;
    for (size_t k = 0; k < m->count; k++) value = log_add(value, log_part(&m->parts[k], f->dim, x));
    return value;
}

unsigned mode_of_part(const family *f, const double *x)
{
    const mixture *m = f->constants;
    double largest = -INFINITY;
    unsigned mode = 0;
    for (size_t k = 0; k < m->count; k++) {
        double value = log_part(&m->parts[k], f->dim, x);
        if (value > largest) {
            largest = value;
            mode = (unsigned)k;
        }
    }
    return mode;
}

/* The weights of the components: for those that hardly overlap. */
void truth_of_parts(family *f)
{
    const mixture *m = f->constants;
    for (size_t k = 0; k < m->count; k++) f->weights[k] = m->parts[k].weight;
}

static void draw_part(const part *p, size_t dim, uint64_t *state, double *x)
{
    double common = next_normal(state), shrink = 1.0;
    if (p->nu > 0) {
        double chi2 = 0.0;
        for (int i = 0; i < p->nu; i++) {
            double z = next_normal(state);
            chi2 += z * z;
        }
        shrink = 1.0 / sqrt(chi2 / p->nu);
    }
    for (size_t i = 0; i < dim; i++)
        x[i] = p->centre[i] + p->scale[i] * shrink * (sqrt(1.0 - p->cor) * next_normal(state) + sqrt(p->cor) * common);
}

void draw_mixture(const family *f, uint64_t *state, double *x)
{
    const mixture *m = f->constants;
    do {
        double u = next_uniform(state);
        size_t k = 0;
        while (k + 1 < m->count && u > m->parts[k].weight) u -= m->parts[k++].weight;
        draw_part(&m->parts[k], f->dim, state, x);
    } while (!is_inside(f, x));
}

/* ---- making mixtures ---- */

static mixture *new_mixture(family *f)
{
    mixture *m = calloc(1, sizeof *m);
    if (m == NULL) abort();
    f->constants = m;
    set_unbounded(f);
    return m;
}

/* A component of one scale at centre[i mod period]. */
static part *add_part(family *f, double weight, double scale, size_t period, const double *centre)
{
    mixture *m = f->constants;
    part *p = &m->parts[m->count++];
    p->weight = weight;
    for (size_t i = 0; i < f->dim; i++) {
        p->centre[i] = centre[i % period];
        p->scale[i] = scale;
    }
    return p;
}

static void finish(family *f)
{
    mixture *m = f->constants;
    double d = (double)f->dim;
    for (size_t k = 0; k < m->count; k++) {
        part *p = &m->parts[k];
        p->constant = log(p->weight) - 0.5 * ((d - 1.0) * log1p(-p->cor) + log1p((d - 1.0) * p->cor));
        for (size_t i = 0; i < f->dim; i++) p->constant -= log(p->scale[i]);
        p->constant -= p->nu == 0
                           ? 0.5 * d * log(TWO_PI)
                           : lgamma(0.5 * p->nu) - lgamma(0.5 * (p->nu + d)) + 0.5 * d * log(0.5 * TWO_PI * p->nu);
    }
}

/* ---- the families ---- */

void setup_pair(family *f)
{
    new_mixture(f);
    add_part(f, 0.9, 1.0, 1, (double[]){20.0});
    add_part(f, 0.1, 1.0, 1, (double[]){-20.0});
    finish(f);
}

/* The centres are the rows of data/mixture_means.csv; the built-in model multiplies them by spread / 2. */
void setup_box(family *f)
{
    static const double centres[8][8] = {
        {0.047286498801026866, 1.8018547853037412, -1.4233615491214651, 1.7945977885489754, -0.75267419195805818,
         -0.30669420410969739, 1.310810375281767, -0.3632034545233549},
        {0.19837475069223798, -1.8897635470277265, 1.0140524346992263, 0.15257325287711287, -0.68107313400363134,
         1.1537148137136173, -0.78722068283342006, -0.18600844207739398},
        {-1.463833211011341, -0.38754805421148308, -1.1861790372954015, -0.95074663823260197, 1.0014586905202103,
         -0.8783649680558403, -0.059236102273459768, 1.9229487992049545},
        {1.8466287746551471, 0.89915976309413459, 0.16490742218973686, -0.89243518381851672, -1.3573919648994925,
         1.8797016528645303, 0.064274342191514844, -1.5365375501169187},
        {0.49395902215000165, 1.1067324573691919, 0.45201320421216185, 1.6691908191636107, -1.8416284933431886,
         0.11435705304008659, -0.16265646845838511, -1.7506016834004976},
        {0.56531267655749984, 1.410531353922627, 0.37176407241713605, -0.95961020905110717, 1.3595260841256351,
         0.0379835260860375, 0.043555537866132088, 1.0121208308087115},
        {-1.4083118568601738, 1.2785068764771079, 0.73314762401302858, 1.1483877662192041, -1.233534963919459,
         1.2094566445381201, -1.2347042957711989, -1.6737895305459491},
        {1.4209078971482807, 1.4451339847106737, 1.506148385666322, -0.1123611225648391, -0.9038064455451269,
         -1.971632685587335, 0.58288358229979131, 0.87963753403477218},
    };
    mixture *m = new_mixture(f);
    for (size_t k = 0; k < 8; k++) {
        add_part(f, 0.125, 1.0, 8, centres[k]);
        for (size_t i = 0; i < 8; i++) m->parts[k].centre[i] *= 10.0;
    }
    finish(f);
}

void setup_spike(family *f)
{
    new_mixture(f);
    add_part(f, 0.5, 1.0, 1, (double[]){0.0});
    add_part(f, 0.5, 0.01, 1, (double[]){0.7});
    finish(f);
}

void setup_halo4(family *f)
{
    new_mixture(f);
    add_part(f, 0.5, 1.0, 1, (double[]){0.0});
    add_part(f, 0.5, 12.0, 1, (double[]){10.0});
    finish(f);
}

static void add_ring(family *f, size_t count, const double *weights, double radius, double scale)
{
    for (size_t k = 0; k < count; k++) {
        double angle = TWO_PI * (double)k / (double)count;
        double centre[4] = {radius * cos(angle), radius * sin(angle), 0.0, 0.0};
        add_part(f, weights[k], scale, 4, centre);
    }
    finish(f);
}

void setup_ring8(family *f)
{
    static const double weights[8] = {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
    new_mixture(f);
    set_box(f, -15.0, 15.0);
    add_ring(f, 8, weights, 10.0, 0.5);
}

void setup_ring4(family *f)
{
    static const double weights[6] = {0.3, 0.05, 0.2, 0.12, 0.25, 0.08};
    new_mixture(f);
    set_box(f, -12.0, 12.0);
    add_ring(f, 6, weights, 8.0, 0.6);
}

void setup_unequal5(family *f)
{
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    add_part(f, 0.5, 1.0, 1, (double[]){-4.0});
    add_part(f, 0.2, 0.3, 5, (double[]){4.0, 4.0, 0.0, -4.0, 4.0});
    add_part(f, 0.3, 0.5, 5, (double[]){0.0, 5.0, 5.0, 4.0, -4.0});
    finish(f);
}

void setup_student10(family *f)
{
    new_mixture(f);
    set_box(f, -20.0, 20.0);
    add_part(f, 0.6, 1.0, 1, (double[]){6.0})->nu = 5;
    add_part(f, 0.4, 1.0, 1, (double[]){-6.0})->nu = 5;
    finish(f);
}

void setup_student5(family *f)
{
    new_mixture(f);
    set_box(f, -15.0, 15.0);
    add_part(f, 0.25, 0.3, 2, (double[]){6.0, -6.0})->nu = 4;
    add_part(f, 0.35, 0.5, 5, (double[]){-6.0, 6.0, 6.0, 6.0, -6.0})->nu = 4;
    add_part(f, 0.2, 0.8, 5, (double[]){-7.0, -7.0, -5.0, 6.0, 7.0})->nu = 4;
    add_part(f, 0.2, 1.1, 5, (double[]){7.0, 6.0, -7.0, -6.0, -7.0})->nu = 4;
    finish(f);
}

void setup_gauss20(family *f)
{
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    add_part(f, 0.5, 0.5, 2, (double[]){-4.0, -2.0});
    part *stretched = add_part(f, 0.3, 1.0, 3, (double[]){3.0, 2.0, 4.0});
    for (size_t i = 0; i < f->dim; i++) stretched->scale[i] = 0.2 + 0.05 * (double)i;
    add_part(f, 0.2, 0.8, 2, (double[]){3.0, -4.0})->cor = 0.8;
    finish(f);
}

void setup_grid25(family *f)
{
    new_mixture(f);
    set_box(f, -12.5, 12.5);
    for (int k = 0; k < 25; k++) add_part(f, 0.04, 0.4, 2, (double[]){5.0 * (k / 5 - 2), 5.0 * (k % 5 - 2)});
    finish(f);
}

void setup_narrow6(family *f)
{
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    add_part(f, 0.7, 1.0, 1, (double[]){-3.0});
    add_part(f, 0.3, 1.0 / 3.0, 1, (double[]){3.0});
    finish(f);
}

/* ---- the families of the set `attack` ---- */

void setup_weights6(family *f)
{
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    add_part(f, 0.9, 1.0, 1, (double[]){-5.0});
    add_part(f, 0.05, 0.8, 2, (double[]){6.0, -3.0});
    add_part(f, 0.03, 0.6, 3, (double[]){0.0, 6.0, 5.0});
    add_part(f, 0.02, 0.5, 3, (double[]){7.0, 0.0, 4.0});
    finish(f);
}

void setup_widths3(family *f)
{
    new_mixture(f);
    set_box(f, -8.0, 8.0);
    add_part(f, 0.4, 1.2, 1, (double[]){-3.0});
    add_part(f, 0.35, 0.4, 3, (double[]){4.0, 0.0, 4.0});
    add_part(f, 0.25, 0.6, 3, (double[]){0.0, 5.0, -4.0});
    finish(f);
}

void setup_tilted8(family *f)
{
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    add_part(f, 0.5, 1.5, 1, (double[]){-2.0})->cor = 0.9;
    add_part(f, 0.3, 0.9, 2, (double[]){5.0, -5.0})->cor = 0.5;
    add_part(f, 0.2, 0.8, 2, (double[]){-5.0, 6.0});
    finish(f);
}

void setup_tails4(family *f)
{
    new_mixture(f);
    set_box(f, -25.0, 25.0);
    add_part(f, 0.5, 1.0, 1, (double[]){-10.0})->nu = 3;
    add_part(f, 0.3, 0.5, 2, (double[]){10.0, -8.0})->nu = 3;
    add_part(f, 0.2, 0.7, 4, (double[]){12.0, 12.0, 0.0, 6.0})->nu = 3;
    finish(f);
}

void setup_walls5(family *f)
{
    new_mixture(f);
    set_box(f, -1.0, 1.0);
    add_part(f, 0.4, 0.1, 1, (double[]){-0.98});
    add_part(f, 0.3, 0.1, 1, (double[]){0.95});
    add_part(f, 0.2, 0.08, 2, (double[]){0.97, -0.9});
    add_part(f, 0.1, 0.12, 2, (double[]){-1.0, 0.5});
    finish(f);
}

void setup_ridge4(family *f)
{
    new_mixture(f);
    set_box(f, -20.0, 20.0);
    add_part(f, 0.8, 5.0, 1, (double[]){0.0})->cor = 0.998;
    add_part(f, 0.2, 0.3, 1, (double[]){6.0});
    finish(f);
}

void setup_twelve10(family *f)
{
    uint64_t state = 41;
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    for (int k = 0; k < 12; k++) {
        double centre[10];
        for (size_t i = 0; i < 10; i++) centre[i] = -8.0 + 16.0 * next_uniform(&state);
        add_part(f, 1.0 / 12.0, 0.7, 10, centre);
    }
    finish(f);
}

void setup_five20(family *f)
{
    static const double weights[5] = {0.4, 0.25, 0.2, 0.1, 0.05}, scales[5] = {1.0, 0.7, 0.8, 0.9, 0.6};
    uint64_t state = 42;
    new_mixture(f);
    set_box(f, -10.0, 10.0);
    for (int k = 0; k < 5; k++) {
        double centre[20];
        for (size_t i = 0; i < 20; i++) centre[i] = -6.0 + 12.0 * next_uniform(&state);
        add_part(f, weights[k], scales[k], 20, centre);
    }
    finish(f);
}
