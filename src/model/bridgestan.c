/* The loader of Stan models: shared objects with the C interface of BridgeStan, version 2
 * (https://roualdes.us/bridgestan/latest/languages/c-api.html).
 *
 * The parameters of such a model are Stan's unconstrained ones: its log density has the Jacobian of the constraints and
 * no bounds. What users see are derived quantities under Stan's names: parameters, transformed parameters, generated
 * quantities. Generated quantities that are random get a generator seeded by the draw itself, so that they depend on
 * neither the thread nor the past.
 *
 * A point that the model rejects, by reject() or because a distribution refuses its arguments, is outside the support,
 * as it is for Stan. A model without STAN_THREADS keeps the memory of its derivatives in global variables, which all
 * such models of a process may share: one lock is for all of them. With STAN_THREADS each thread has memory of its own,
 * which BridgeStan makes when the thread first asks for a gradient. Stiff solvers of differential equations and other
 * functions need it for a density without gradient, too, so each thread asks for one gradient before anything else. */
#include "base/checksum.h"
#include "base/mem.h"
#include "model/shared_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct bs_model bs_model;
typedef struct bs_rng bs_rng;
typedef void bs_print_fn(const char *text, size_t size);
typedef int gradient_fn(const bs_model *model, bool propto, bool jacobian, const double *x, double *logp,
                        double *gradient, char **error);

/* The functions of the library that are used. */
typedef struct interface {
    bs_model *(*construct)(const char *data, unsigned seed, char **error);
    void (*destruct)(bs_model *model);
    void (*free_error)(char *error);
    const char *(*name)(const bs_model *model);
    const char *(*info)(const bs_model *model);
    const char *(*names)(const bs_model *model, bool transformed, bool generated);
    const char *(*free_names)(const bs_model *model);
    int (*count)(const bs_model *model, bool transformed, bool generated);
    int (*free_count)(const bs_model *model);
    int (*constrain)(const bs_model *model, bool transformed, bool generated, const double *x, double *out, bs_rng *rng,
                     char **error);
    int (*density)(const bs_model *model, bool propto, bool jacobian, const double *x, double *logp, char **error);
    gradient_fn *gradient;
    bs_rng *(*rng_construct)(unsigned seed, char **error);
    void (*rng_destruct)(bs_rng *rng);
    int (*set_print)(bs_print_fn *print, char **error); /* NULL: the model prints where the library likes */
} interface;

static const struct {
    const char *name;
    size_t at;
    bool optional;
} symbols[] = {{"bs_model_construct", offsetof(interface, construct), false},
               {"bs_model_destruct", offsetof(interface, destruct), false},
               {"bs_free_error_msg", offsetof(interface, free_error), false},
               {"bs_name", offsetof(interface, name), false},
               {"bs_model_info", offsetof(interface, info), false},
               {"bs_param_names", offsetof(interface, names), false},
               {"bs_param_unc_names", offsetof(interface, free_names), false},
               {"bs_param_num", offsetof(interface, count), false},
               {"bs_param_unc_num", offsetof(interface, free_count), false},
               {"bs_param_constrain", offsetof(interface, constrain), false},
               {"bs_log_density", offsetof(interface, density), false},
               {"bs_log_density_gradient", offsetof(interface, gradient), false},
               {"bs_rng_construct", offsetof(interface, rng_construct), false},
               {"bs_rng_destruct", offsetof(interface, rng_destruct), false},
               {"bs_set_print_callback", offsetof(interface, set_print), true}};

enum {
    TRANSFORMED_DATA_SEED = 1,
    MAX_PRINTED = 200, /* lines of print() that are shown */
    MAX_REJECTED = 5   /* messages of rejected points that are shown */
};

typedef struct stan {
    interface call;
    bs_model *model;
    size_t transformed; /* quantities up to the last transformed parameter; generated quantities follow */
    size_t shown;       /* all quantities */
    bool threads;       /* several threads may call the model */
    pthread_mutex_t lock;
    uint64_t rejected, failed; /* points, and draws without generated quantities */
    char first[400];           /* what was said of the first of them */
} stan;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* ---- messages ---- */

/* What print() in a model has said. The interface has no place for a pointer of ours, so this is the process's. */
static struct {
    pthread_mutex_t lock;
    uint64_t lines;
} printed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_print(const char *text, size_t size)
{
    pthread_mutex_lock(&printed.lock);
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end != NULL ? (size_t)(end - text) : size, whole = end != NULL ? length + 1 : size;
        if (printed.lines < MAX_PRINTED) fprintf(stderr, "model: %.*s\n", (int)length, text);
        if (printed.lines == MAX_PRINTED) fprintf(stderr, "model: (what it prints from here on is not shown)\n");
        printed.lines++;
        text += whole;
        size -= whole;
    }
    pthread_mutex_unlock(&printed.lock);
}

/* Counts a failure, shows the first ones, and frees the message. */
static void take_failure(stan *s, uint64_t *count, const char *what, char *error)
{
    const char *text = error != NULL ? error : "no reason given";
    pthread_mutex_lock(&s->lock);
    if (s->rejected + s->failed == 0) snprintf(s->first, sizeof s->first, "%s", text);
    ++*count;
    if (*count <= MAX_REJECTED)
        fprintf(stderr, "model: %s: %s%s\n", what, text,
                *count == MAX_REJECTED ? " (further ones are not shown; log.txt of the run has their number)" : "");
    pthread_mutex_unlock(&s->lock);
    if (error != NULL) s->call.free_error(error);
}

static void remarks(void *user, char *text, size_t size)
{
    stan *s = user;
    pthread_mutex_lock(&s->lock);
    if (s->rejected + s->failed > 0)
        snprintf(text, size, "points rejected: %llu; draws without generated quantities: %llu; the first: %s",
                 (unsigned long long)s->rejected, (unsigned long long)s->failed, s->first);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the functions of the model ---- */

/* Makes the calling thread's memory for derivatives, once per library. What the gradient is does not matter. */
static void make_tape(const stan *s, size_t dim, const double *x)
{
    static _Thread_local gradient_fn *made;
    double value, *unused;
    char *error = NULL;
    if (made == s->call.gradient || (unused = malloc(dim * sizeof *unused)) == NULL) return;
    if (s->call.gradient(s->model, false, true, x, &value, unused, &error) != 0 && error != NULL)
        s->call.free_error(error);
    free(unused);
    made = s->call.gradient;
}

/* Before a thread calls the model; the first point that it will ask for. */
static void enter(const stan *s, size_t dim, const double *x)
{
    if (s->threads)
        make_tape(s, dim, x);
    else
        pthread_mutex_lock(&one_at_a_time);
}

static void leave(const stan *s)
{
    if (!s->threads) pthread_mutex_unlock(&one_at_a_time);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    stan *s = user;
    (void)worker;
    enter(s, dim, x);
    for (size_t i = 0; i < n; i++) {
        char *error = NULL;
        if (s->call.density(s->model, false, true, x + i * dim, &values[i], &error) == 0) continue;
        values[i] = -INFINITY;
        take_failure(s, &s->rejected, "a point was rejected", error);
    }
    leave(s);
    return 0;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values,
                    double *gradients)
{
    stan *s = user;
    (void)worker;
    enter(s, dim, x);
    for (size_t i = 0; i < n; i++) {
        char *error = NULL;
        if (s->call.gradient(s->model, false, true, x + i * dim, &values[i], gradients + i * dim, &error) == 0)
            continue;
        values[i] = -INFINITY;
        memset(gradients + i * dim, 0, dim * sizeof *gradients);
        take_failure(s, &s->rejected, "a point was rejected", error);
    }
    leave(s);
    return 0;
}

/* All quantities of a draw. If the generated quantities fail, they are NaN, as Stan has it; if transformed parameters
 * fail, too, everything is. */
static int constrain(stan *s, size_t dim, const double *x, size_t count, double *out)
{
    char *error = NULL;
    int code;
    if (count > s->transformed) {
        bs_rng *rng = s->call.rng_construct(gess__crc32(0, x, dim * sizeof *x), &error);
        code = rng != NULL ? s->call.constrain(s->model, true, true, x, out, rng, &error) : -1;
        if (rng != NULL) s->call.rng_destruct(rng);
        if (code == 0) return 0;
        take_failure(s, &s->failed, "the generated quantities of a draw failed", error);
        error = NULL;
        for (size_t i = s->transformed; i < count; i++) out[i] = NAN;
    }
    if (s->call.constrain(s->model, true, false, x, out, NULL, &error) == 0) return 0;
    take_failure(s, &s->failed, "the parameters of a draw failed", error);
    for (size_t i = 0; i < count; i++) out[i] = NAN;
    return 0;
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    stan *s = user;
    (void)worker;
    enter(s, dim, x);
    int code = constrain(s, dim, x, derived, out);
    leave(s);
    return code;
}

/* ---- names ---- */

/* Stan's name of a quantity: theta[1,2] for BridgeStan's theta.1.2; parts of tuples, after colons, likewise. Returns
 * the end of the written text. */
static char *put_name(const char *name, size_t length, char *out)
{
    bool inside = false;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == ':' && inside) *out++ = ']';
        *out++ = name[i] != '.' ? name[i] : inside ? ',' : '[';
        inside = name[i] == '.' || (inside && name[i] != ':');
    }
    if (inside) *out++ = ']';
    return out;
}

/* Splits BridgeStan's list of names, with `suffix` behind each. */
static int split_names(gess__model *m, const char *list, size_t count, const char *suffix, const char *const **to,
                       gess_error *err)
{
    const char **names = NULL;
    char *text = NULL;
    size_t found = 0;
    GESS_MODEL_ALLOC(m, &names, count, err);
    GESS_MODEL_ALLOC(m, &text, 2 * strlen(list) + count * (strlen(suffix) + 2) + 1, err);
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (found == count) break;
        names[found++] = text;
        text = put_name(list, length, text);
        strcpy(text, suffix);
        text += strlen(suffix) + 1;
        list += length + (list[length] == ',');
    }
    *to = names;
    if (found == count && *list == '\0') return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL,
                      "the Stan model has %zu quantities but another number of names; build it "
                      "again",
                      count);
}

/* The number of observations: of quantities log_lik, log_lik[1], … */
static size_t count_log_lik(size_t count, const char *const *names)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += strncmp(names[i], "log_lik", 7) == 0 && strchr("[", names[i][7]) != NULL;
    return found;
}

/* ---- opening ---- */

static int find_symbols(interface *call, void *library, const char *path, gess_error *err)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL && symbols[i].optional) continue;
        if (address == NULL)
            return gess__fail(err, GESS_ERR_MODEL,
                              "the Stan model %.500s has no symbol %s; build it with BridgeStan 2 or later", path,
                              symbols[i].name);
        memcpy((char *)call + symbols[i].at, &address, sizeof address);
    }
    return GESS_OK;
}

/* The text of a file, as long as the model lives. */
static int read_text(gess__model *m, const char *path, char **text, gess_error *err)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        int why = errno;
        if (file != NULL) fclose(file);
        return gess__fail(err, GESS_ERR_MODEL, "cannot read --data %.400s: %s", path, strerror(why));
    }
    size_t size = (size_t)about.st_size;
    int status = S_ISREG(about.st_mode)
                     ? gess__model_alloc(m, text, size + 1, 1, err)
                     : gess__fail(err, GESS_ERR_MODEL,
                                  "cannot read --data %.400s: it is %s; a Stan model needs a file, which is read again "
                                  "when the run is resumed",
                                  path, S_ISDIR(about.st_mode) ? "a folder" : "a pipe or a device");
    if (status == GESS_OK && fread(*text, 1, size, file) != size)
        status = gess__fail(err, GESS_ERR_MODEL, "cannot read --data %.400s: it has become shorter", path);
    fclose(file);
    return status;
}

static int construct(stan *s, gess__model *m, const char *path, const char *data, gess_error *err)
{
    char *text = NULL, *error = NULL;
    GESS_TRY(gess__shared_object_data(path, data, err));
    if (data != NULL) GESS_TRY(read_text(m, data, &text, err));
    if (s->call.set_print != NULL && s->call.set_print(on_print, &error) != 0 && error != NULL)
        s->call.free_error(error);
    error = NULL;
    pthread_mutex_lock(&one_at_a_time);
    s->model = s->call.construct(text, TRANSFORMED_DATA_SEED, &error);
    pthread_mutex_unlock(&one_at_a_time);
    if (s->model != NULL) return GESS_OK;
    int status = gess__fail(err, GESS_ERR_MODEL, "the Stan model %.200s did not open with %s%.200s: %.550s", path,
                            data != NULL ? "--data " : "no data", data != NULL ? data : "",
                            error != NULL ? error : "it gives no reason");
    if (error != NULL) s->call.free_error(error);
    return status;
}

static void close_stan(gess__model *m)
{
    stan *s = m->loaded;
    if (s->model != NULL) s->call.destruct(s->model);
    pthread_mutex_destroy(&s->lock);
}

/* Fills in the model that gess samples. */
static int describe(stan *s, gess__model *m, const char *path, gess_error *err)
{
    gess_model *model = &m->model;
    int dim = s->call.free_count(s->model), parameters = s->call.count(s->model, false, false),
        transformed = s->call.count(s->model, true, false), all = s->call.count(s->model, true, true);
    if (dim < 0 || parameters < 0 || transformed < parameters || all < transformed)
        return gess__fail(err, GESS_ERR_MODEL, "the Stan model %.500s has %d of %d quantities; build it again", path,
                          parameters, all);
    if (dim == 0 || parameters == 0)
        return gess__fail(err, GESS_ERR_MODEL, "the Stan model %.500s has no parameters: there is nothing to sample",
                          path);
    const char *info = s->call.info(s->model), *name = s->call.name(s->model);
    s->threads = info != NULL && strstr(info, "STAN_THREADS=true") != NULL;
    s->transformed = (size_t)transformed;
    s->shown = (size_t)all;
    *model = (gess_model){.name = name,
                          .dim = (size_t)dim,
                          .user = s,
                          .logp = logp,
                          .gradient = gradient,
                          .derived = (size_t)all,
                          .derive = derive,
                          .shown = (size_t)parameters,
                          .start_width = 2.0,
                          .serial = !s->threads,
                          .remarks = remarks};
    GESS_TRY(gess__model_check_counts(model->dim, model->derived, 0, err));
    GESS_TRY(split_names(m, s->call.free_names(s->model), model->dim, " (unconstrained)", &model->names, err));
    GESS_TRY(split_names(m, s->call.names(s->model, true, true), s->shown, "", &model->derived_names, err));
    model->observations = count_log_lik(s->shown, model->derived_names);
    return gess__model_check(model, err);
}

int gess__open_bridgestan(gess__model *m, void *library, const char *path, const char *data, gess_error *err)
{
    stan *s = NULL;
    GESS_MODEL_ALLOC(m, &s, 1, err);
    GESS_TRY(find_symbols(&s->call, library, path, err));
    pthread_mutex_init(&s->lock, NULL);
    m->loaded = s;
    m->close = close_stan;
    GESS_TRY(construct(s, m, path, data, err));
    int status = describe(s, m, path, err);
    return status == GESS_OK ? GESS_OK : gess__blame(err, status, "%.400s", path);
}
