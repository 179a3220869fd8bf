/* drift_z: normal scores of t against scipy's (make_circular.py); a standard normal on a thousand exact ensembles of
 * each of several kinds (Kolmogorov and Smirnov's test at 1e-4); large on ensembles that drift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sort.h"
#include "diagnose/distributions.h"
#include "diagnose/drift.h"
#include "report/summary_column.h"

#include <math.h>
#include <stdlib.h>

enum { ENSEMBLES = 1000 };

static const struct {
    double freedom, t, z;
} scipys[] = {
    {1, -0.3, -0.234685501212453},   {1, 1.5, 0.888384270267693},    {1, 4.0, 1.41879681764541},
    {1, 9.4, 1.82851872616323},      {1, 35.0, 2.361846100259},      {2, -0.3, -0.263084227047331},
    {2, 1.5, 1.09756810889743},      {2, 4.0, 1.90184853959549},     {2, 9.4, 2.53862925790694},
    {2, 35.0, 3.34753792661139},     {3, -0.3, -0.274418155808775},  {3, 1.5, 1.19885620030819},
    {3, 4.0, 2.19716791699461},      {3, 9.4, 3.01725361762793},     {3, 35.0, 4.04969162344422},
    {11, -0.3, -0.292675291407747},  {11, 1.5, 1.39918332033314},    {11, 4.0, 3.0776792105261},
    {11, 9.4, 4.82975012214595},     {11, 35.0, 7.10047027609347},   {49, -0.3, -0.298336708586567},
    {49, 1.5, 1.47567701711413},     {49, 4.0, 3.70250578748388},    {49, 9.4, 7.07386382013266},
    {49, 35.0, 12.5870304190304},    {99, -0.3, -0.299175473923983}, {99, 1.5, 1.48782588369594},
    {99, 4.0, 3.84156665524596},     {99, 9.4, 7.92792770237317},    {99, 35.0, 15.9908806210393},
    {999, -0.3, -0.299918180157714}, {999, 1.5, 1.49878138730654},   {999, 4.0, 3.98312586626481},
    {999, 9.4, 9.19926194981029},    {999, 35.0, 28.2689593024119},
};

static void scores_agree_with_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scipys / sizeof *scipys; i++) {
        double z = gess__normal_score_of_t(scipys[i].t, scipys[i].freedom);
        if (!(fabs(z / scipys[i].z - 1.0) < 1e-9))
            print_error("%g with %g: %.17g, not %.17g\n", scipys[i].t, scipys[i].freedom, z, scipys[i].z);
        assert_true(fabs(z / scipys[i].z - 1.0) < 1e-9);
    }
    assert_true(isnan(gess__normal_score_of_t(NAN, 3.0)) && gess__normal_score_of_t(0.0, 5.0) == 0.0);
    double far = gess__normal_score_of_t(1e6, 99.0), further = gess__normal_score_of_t(2e6, 99.0);
    assert_true(isfinite(far) && further > far && gess__normal_score_of_t(-1e6, 99.0) == -far);
}

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Stationary chains: y is autoregressive, the draw a function of y; chains of an ensemble may share a part of y. */
typedef struct kind {
    const char *name;
    size_t chains, draws;
    double memory, shared;
    int shape; /* 0: normal, 1: exponential of it, 2: Cauchy, 3: mostly one value */
    bool interacting;
} kind;

static double shaped(int shape, double y)
{
    switch (shape) {
    case 1: return exp(1.5 * y);
    case 2: return tan(1.5707963 * erf(y / 1.4142135623730951));
    case 3: return y > 1.0 ? floor(y) : 0.0;
    default: return y;
    }
}

static void fill(const kind *k, double drift, double *x)
{
    double fresh = sqrt(1.0 - k->memory * k->memory), own = sqrt(1.0 - k->shared * k->shared);
    double *common = calloc(k->draws, sizeof *common);
    assert_non_null(common);
    double y = normal();
    for (size_t i = 0; i < k->draws; i++) common[i] = y = k->memory * y + fresh * normal();
    for (size_t c = 0; c < k->chains; c++) {
        y = normal();
        for (size_t i = 0; i < k->draws; i++) {
            y = k->memory * y + fresh * normal();
            x[c * k->draws + i] =
                shaped(k->shape, own * y + k->shared * common[i] + drift * (double)i / (double)k->draws);
        }
    }
    free(common);
}

/* drift_z of the draws of chains that do not interact. */
static void quick_scores_of(const kind *k, double drift, size_t count, double *z)
{
    size_t total = k->chains * k->draws;
    double *x = calloc(total, sizeof *x), *scores = calloc(total, sizeof *scores);
    gess__posterior_workspace *work = NULL;
    gess_error err;
    assert_true(x != NULL && scores != NULL);
    assert_int_equal(gess__posterior_workspace_new(&work, k->chains, k->draws, &err), GESS_OK);
    for (size_t i = 0; i < count; i++) {
        fill(k, drift, x);
        gess__posterior_load(work, x);
        assert_true(gess__posterior_scores(work, scores));
        z[i] = gess__drift_z(k->chains, k->draws, scores);
    }
    gess__posterior_workspace_free(work);
    free(scores);
    free(x);
}

/* drift_z as the summary has it. */
static void scores_of(const kind *k, double drift, size_t count, double *z)
{
    const gess__column_shape shape = {.chains = k->chains,
                                      .draws = k->draws,
                                      .ensembles = 1,
                                      .interacting = k->interacting};
    const gess__circle line = {.lower = 0.0, .upper = 0.0};
    gess__column_workspace work = {0};
    gess_error err;
    double *x = calloc(k->chains * k->draws, sizeof *x);
    assert_non_null(x);
    assert_int_equal(gess__column_workspace_new(&work, &shape, &err), GESS_OK);
    for (size_t i = 0; i < count; i++) {
        gess__figures f;
        fill(k, drift, x);
        gess__summarise_column(&f, &shape, &line, x, &work);
        z[i] = f.drift_z;
    }
    gess__column_workspace_free(&work);
    free(x);
}

/* √n sup |F_n − Φ|. */
static double kolmogorov(size_t n, double *z)
{
    double furthest = 0.0;
    gess__sort(n, z);
    for (size_t i = 0; i < n; i++) {
        double p = 0.5 * erfc(-z[i] / 1.4142135623730951);
        furthest = fmax(furthest, fmax(p - (double)i / (double)n, (double)(i + 1) / (double)n - p));
    }
    return sqrt((double)n) * furthest;
}

static const kind kinds[] = {
    {"independent draws", 100, 50, 0.0, 0.0, 0, false},
    {"an odd number of draws", 64, 51, 0.5, 0.0, 0, false},
    {"correlated draws", 64, 50, 0.9, 0.0, 0, false},
    {"skewed", 32, 60, 0.7, 0.0, 1, false},
    {"no mean", 32, 60, 0.5, 0.0, 2, false},
    {"mostly ties", 50, 50, 0.3, 0.0, 3, false},
    {"eight chains", 8, 50, 0.6, 0.0, 0, false},
    {"one chain, independent draws", 1, 50, 0.0, 0.0, 0, false},
    {"one chain", 1, 400, 0.7, 0.0, 0, false},
    {"two chains", 2, 200, 0.5, 0.0, 0, false},
    {"four chains", 4, 200, 0.5, 0.0, 0, false},
    {"four chains, no mean", 4, 200, 0.5, 0.0, 2, false},
    {"chains that interact", 16, 200, 0.5, 0.7, 0, true},
};

static void standard_normal(void **state)
{
    (void)state;
    static double z[ENSEMBLES];
    random_state = 88172645463325252;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double squares = 0.0;
        if (i > 0 && !kinds[i].interacting)
            quick_scores_of(&kinds[i], 0.0, ENSEMBLES, z);
        else
            scores_of(&kinds[i], 0.0, ENSEMBLES, z);
        for (size_t k = 0; k < ENSEMBLES; k++) squares += z[k] * z[k] / ENSEMBLES;
        double distance = kolmogorov(ENSEMBLES, z);
        print_message("%-30s KS %.2f, rms %.3f, largest %.2f\n", kinds[i].name, distance, sqrt(squares),
                      fmax(-z[0], z[ENSEMBLES - 1]));
        assert_true(distance < 2.23); /* p = 1e-4 */
        assert_true(sqrt(squares) > 0.9 && sqrt(squares) < 1.1);
    }
}

/* Chains that share a part must not be taken for independent ones: the test above would notice. */
static void interaction_matters(void **state)
{
    (void)state;
    static double z[ENSEMBLES];
    kind shared = kinds[sizeof kinds / sizeof *kinds - 1];
    shared.interacting = false;
    random_state = 362436069;
    scores_of(&shared, 0.0, ENSEMBLES, z);
    assert_true(kolmogorov(ENSEMBLES, z) > 3.0);
}

static void large_on_drifts(void **state)
{
    (void)state;
    const kind many = {"", 64, 50, 0.5, 0.0, 0, false}, wild = {"", 64, 50, 0.5, 0.0, 2, false},
               one = {"", 1, 400, 0.5, 0.0, 0, false}, four = {"", 4, 200, 0.5, 0.0, 0, false},
               joint = {"", 16, 200, 0.5, 0.7, 0, true};
    const struct {
        const kind *k;
        double drift, least;
    } cases[] = {{&many, 0.5, 3.0}, {&many, 2.0, 10.0}, {&many, -2.0, 10.0}, {&wild, 1.0, 5.0},
                 {&one, 4.0, 4.0},  {&four, 2.0, 5.0},  {&joint, 4.0, 4.0}};
    double z[50];
    random_state = 521288629;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double mean = 0.0;
        scores_of(cases[i].k, cases[i].drift, 50, z);
        for (size_t k = 0; k < 50; k++) mean += z[k] / 50.0;
        print_message("%zu chains of %zu, drift of %g sd: drift_z %.1f on average\n", cases[i].k->chains,
                      cases[i].k->draws, cases[i].drift, mean);
        assert_true(mean * cases[i].drift > 0.0 && fabs(mean) > cases[i].least);
    }
}

static void edges(void **state)
{
    (void)state;
    double x[64] = {0};
    assert_true(isnan(gess__drift_z(8, 8, x)) && isnan(gess__drift_z(1, 64, x)) && isnan(gess__drift_z(8, 7, x)));
    x[5] = NAN;
    assert_true(isnan(gess__drift_z(8, 8, x)));
    for (size_t i = 0; i < 64; i++) x[i] = (double)i;
    assert_true(gess__drift_z(1, 64, x) > 6.0); /* a straight line */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scores_agree_with_scipy), cmocka_unit_test(standard_normal),
                                       cmocka_unit_test(interaction_matters), cmocka_unit_test(large_on_drifts),
                                       cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
