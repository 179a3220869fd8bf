/* The built-in densities: evaluations per second on one core.
 *
 * If the environment variable GESS_DENSITIES names the numpy reference of the densities, bench/models.py compares the
 * values and then times both in one process; the ratio is ours over numpy's. Without it, batches of 64 points are
 * compared with single points, after a check that the values have the same bits. */
#include "base/mem.h"
#include "base/rng.h"
#include "bench/bench.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 64 };

static const struct {
    const char *name;
    double goal; /* the ratio to numpy to reach */
} models[] = {{"funnel", 3.0},
              {"mixture", 3.0},
              {"breast-cancer", 3.0},
              {"german-credit", 3.0},
              {"stochastic-volatility", 3.0},
              {"ionosphere", 3.0},
              {"snp", 10.0},
              {"wishart", 1.0}};
enum { MODELS = sizeof models / sizeof *models };

/* Seconds of one call with n points, the best of five. */
static double time_calls(const gess_model *m, size_t n, const double *x, double *logp)
{
    double best = INFINITY;
    for (int trial = 0; trial < 5; trial++) {
        uint64_t calls = 0;
        double start = gess__seconds(), passed;
        do {
            for (int i = 0; i < 4; i++, calls++) m->logp(m->user, 0, n, m->dim, x, logp);
            passed = gess__seconds() - start;
        } while (passed < 0.05);
        best = fmin(best, passed / (double)calls);
    }
    return best;
}

static int measure_batches(const char *name, gess__bench_result *result, gess_error *err)
{
    gess_model *m = NULL;
    double *x = NULL, *logp = NULL, *single = NULL;
    int status = gess_model_open(&m, name, NULL, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&x, BATCH * m->dim, sizeof *x, "points", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&logp, BATCH, sizeof *logp, "values", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&single, BATCH, sizeof *single, "values", err);
    if (status == GESS_OK) {
        for (size_t i = 0; i < BATCH; i++) {
            gess__key key = {.seed = 1, .iteration = i, .chain = 0, .purpose = GESS__FOR_TEST};
            gess__normals(key, m->dim, x + i * m->dim);
            for (size_t k = 0; k < m->dim; k++)
                if (m->lower != NULL && m->lower[k] == 0.0) x[i * m->dim + k] = fabs(x[i * m->dim + k]);
        }
        m->logp(m->user, 0, BATCH, m->dim, x, logp);
        for (size_t i = 0; i < BATCH; i++) m->logp(m->user, 0, 1, m->dim, x + i * m->dim, single + i);
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c): compares bits */
        if (memcmp(logp, single, BATCH * sizeof *logp) != 0)
            status = gess__fail(err, GESS_ERR_INTERNAL, "bench models: %s depends on its batch", name);
    }
    if (status == GESS_OK) {
        double batch = time_calls(m, BATCH, x, logp) / BATCH, one = time_calls(m, 1, x, single);
        gess__bench_add(result, batch, one, NAN, 1,
                        "%s: %.3g evaluations per second in batches of %d, against single points", name, 1.0 / batch,
                        BATCH);
    }
    free(x);
    free(logp);
    free(single);
    gess_model_free(m);
    return status;
}

/* Adds a row per model of the script's JSON. */
static int take_json(json_t *root, gess__bench_result *result, gess_error *err)
{
    const char *key;
    json_t *value;
    if (json_object_size(json_object_get(root, "models")) == 0)
        return gess__fail(err, GESS_ERR_INTERNAL,
                          "bench models: bench/models.py gave no figures; it needs python3 and numpy");
    json_object_foreach(json_object_get(root, "models"), key, value)
    {
        double ours = json_number_value(json_object_get(value, "evaluations"));
        double numpy = json_number_value(json_object_get(value, "numpy")), goal = NAN;
        for (size_t i = 0; i < MODELS; i++)
            if (strncmp(key, models[i].name, strlen(models[i].name)) == 0) goal = models[i].goal;
        gess__bench_add(result, 1.0 / ours, 1.0 / numpy, goal, 1,
                        "%.40s: %.3g evaluations per second, against numpy's %.3g", key, ours, numpy);
    }
    return GESS_OK;
}

/* The first of the given paths that can be read, or NULL. */
static const char *first_readable(size_t n, char paths[][1024])
{
    for (size_t i = 0; i < n; i++)
        if (access(paths[i], R_OK) == 0) return paths[i];
    return NULL;
}

static int measure_against_numpy(const char *densities, gess__bench_result *result, gess_error *err)
{
    char folder[512] = "", scripts[2][1024], libraries[2][1024], command[16384];
    if (readlink("/proc/self/exe", folder, sizeof folder - 1) > 0) *strrchr(folder, '/') = '\0';
    snprintf(scripts[0], sizeof *scripts, "%s/../bench/models.py", GESS_SOURCE_DATA);
    snprintf(scripts[1], sizeof *scripts, "%s/../share/gess/bench/models.py", folder);
    snprintf(libraries[0], sizeof *libraries, "%s/libgess.so", folder);
    snprintf(libraries[1], sizeof *libraries, "%s/../lib/libgess.so", folder);
    const char *script = first_readable(2, scripts), *library = first_readable(2, libraries);
    if (script == NULL || library == NULL)
        return gess__fail(err, GESS_ERR_FILE,
                          "bench models: cannot find bench/models.py or libgess.so beside this program");
    if (strlen(densities) > 4096)
        return gess__fail(err, GESS_ERR_USAGE, "bench models: the path of the densities is too long");
    if (strchr(densities, '\'') != NULL || strchr(script, '\'') != NULL || strchr(library, '\'') != NULL)
        return gess__fail(err, GESS_ERR_USAGE, "bench models: a path has a quote in it");
    snprintf(command, sizeof command, "python3 '%s' '%s' --library '%s' --json", script, densities, library);
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): quotes are refused above */
    json_t *root = pipe != NULL ? json_loadf(pipe, 0, NULL) : NULL;
    if (pipe != NULL) pclose(pipe);
    int status = take_json(root, result, err);
    json_decref(root);
    return status;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    (void)options;
    const char *densities = getenv("GESS_DENSITIES");
    if (densities != NULL && densities[0] != '\0') return measure_against_numpy(densities, result, err);
    for (size_t i = 0; i < MODELS; i++) GESS_TRY(measure_batches(models[i].name, result, err));
    return GESS_OK;
}

const gess__bench gess__bench_models = {
    .name = "models",
    .help = "evaluations of the built-in densities (GESS_DENSITIES=FILE: against numpy)",
    .run = run,
};
