/* Opens and closes models: finds a built-in model by name, parses its `key=value` parameters, or hands a shared object
 * to shared_object.c; finds data files and names parameters. */
#include "model/model.h"

#include "base/arithmetic.h"
#include "base/assert.h"
#include "base/csv.h"
#include "base/format.h"
#include "base/library.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "model/builtin/builtin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the table of built-in models ---- */

static const gess__builtin builtins[] = {
#define GESS_MODEL(identifier, name, dimension, help) {name, dimension, help, gess__open_##identifier},
#include "model/builtin/models.def"
#undef GESS_MODEL
};

enum { BUILTINS = sizeof builtins / sizeof *builtins };

const gess__builtin *gess__builtin_row(size_t i)
{
    return i < BUILTINS ? &builtins[i] : NULL;
}

static const gess__builtin *find_builtin(const char *name)
{
    for (size_t i = 0; i < BUILTINS; i++)
        if (strcmp(builtins[i].name, name) == 0) return &builtins[i];
    return NULL;
}

/* ---- lists of words in messages ---- */

typedef struct word_list {
    char text[512];
    size_t length;
} word_list;

/* Words past the end of the buffer are dropped. */
static void add_word(word_list *list, const char *word)
{
    int added = snprintf(list->text + list->length, sizeof list->text - list->length, "%s%s",
                         list->length > 0 ? ", " : "", word);
    if (added > 0 && (size_t)added < sizeof list->text - list->length)
        list->length += (size_t)added;
    else
        list->text[list->length] = '\0';
}

/* ---- parameters ---- */

enum { MAX_PARAMETERS = 16 };

struct gess__parameters {
    const char *model; /* its name, for messages; not owned */
    size_t count;
    struct {
        char *key, *value; /* in the text that gess_model_open() owns */
        bool used;
    } item[MAX_PARAMETERS];
    const char *known[MAX_PARAMETERS]; /* keys that were looked up; string literals */
    size_t known_count;
};

/* Splits `key=value,key=value`, writing into text. */
static int split_parameters(gess__parameters *p, char *text, gess_error *err)
{
    while (text != NULL) {
        char *next = strchr(text, ',');
        if (next != NULL) *next++ = '\0';
        char *equals = strchr(text, '=');
        if (equals == NULL || equals == text || equals[1] == '\0')
            return gess__fail(err, GESS_ERR_USAGE, "model %s: '%s' is not a parameter; write %s:key=value,key=value",
                              p->model, text, p->model);
        *equals = '\0';
        for (size_t i = 0; i < p->count; i++)
            if (strcmp(p->item[i].key, text) == 0)
                return gess__fail(err, GESS_ERR_USAGE, "model %s: parameter '%s' is given twice; keep one of them",
                                  p->model, text);
        if (p->count == MAX_PARAMETERS)
            return gess__fail(err, GESS_ERR_USAGE,
                              "model %s: more than %d parameters; `gess models` lists those that it has", p->model,
                              MAX_PARAMETERS);
        p->item[p->count].key = text;
        p->item[p->count].value = equals + 1;
        p->count++;
        text = next;
    }
    return GESS_OK;
}

int gess__parameter_text(gess__parameters *p, const char *key, const char **out, gess_error *err)
{
    bool known = false;
    for (size_t i = 0; i < p->known_count; i++) known |= strcmp(p->known[i], key) == 0;
    if (!known) {
        if (p->known_count == MAX_PARAMETERS)
            return gess__fail(err, GESS_ERR_INTERNAL, "model %s looks up more than %d parameters", p->model,
                              MAX_PARAMETERS);
        p->known[p->known_count++] = key;
    }
    *out = NULL;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->item[i].key, key) == 0) {
            p->item[i].used = true;
            *out = p->item[i].value;
        }
    return GESS_OK;
}

static bool parse_count(const char *text, size_t *out)
{
    size_t value = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        size_t digit = (size_t)(*text - '0');
        if (value > (SIZE_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

int gess__parameter_count(gess__parameters *p, const char *key, size_t fallback, size_t low, size_t high, size_t *out,
                          gess_error *err)
{
    const char *text;
    *out = fallback;
    GESS_TRY(gess__parameter_text(p, key, &text, err));
    if (text != NULL && (!parse_count(text, out) || *out < low || *out > high))
        return gess__fail(err, GESS_ERR_USAGE, "model %s: %s=%s is not a whole number from %zu to %zu", p->model, key,
                          text, low, high);
    return GESS_OK;
}

int gess__parameter_real(gess__parameters *p, const char *key, double fallback, double low, double high, double *out,
                         gess_error *err)
{
    const char *text;
    *out = fallback;
    GESS_TRY(gess__parameter_text(p, key, &text, err));
    if (text != NULL && (!gess__parse_real(text, out) || !(*out >= low && *out <= high)))
        return gess__fail(err, GESS_ERR_USAGE, "model %s: %s=%s is not a number from %g to %g", p->model, key, text,
                          low, high);
    return GESS_OK;
}

static int check_all_used(const gess__parameters *p, gess_error *err)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->item[i].used) continue;
        word_list keys = {0};
        for (size_t k = 0; k < p->known_count; k++) add_word(&keys, p->known[k]);
        if (p->known_count == 0)
            return gess__fail(err, GESS_ERR_USAGE, "model %s takes no parameters, so leave out '%s'; see `gess models`",
                              p->model, p->item[i].key);
        gess__nearest nearest = {.word = p->item[i].key};
        char hint[128];
        for (size_t k = 0; k < p->known_count; k++) gess__nearest_offer(&nearest, p->known[k]);
        return gess__fail(err, GESS_ERR_USAGE, "model %s has no parameter '%s'%s; it knows: %s; see `gess models`",
                          p->model, p->item[i].key, gess__did_you_mean(&nearest, hint), keys.text);
    }
    return GESS_OK;
}

/* ---- memory and names ---- */

int gess__model_alloc(gess__model *m, void *out, size_t count, size_t size, gess_error *err)
{
    GESS_ASSERT(m->memory_count <= GESS__MODEL_MEMORY);
    if (m->memory_count == GESS__MODEL_MEMORY)
        return gess__fail(err, GESS_ERR_INTERNAL, "a model allocates more than %d times: raise GESS__MODEL_MEMORY",
                          GESS__MODEL_MEMORY);
    void *memory;
    GESS_TRY(gess__alloc_bytes(&memory, count, size, "model", err));
    m->memory[m->memory_count++] = memory;
    memcpy(out, &memory, sizeof memory);
    return GESS_OK;
}

int gess__model_number_names(gess__model *m, const char *prefix, size_t first, size_t dim, gess_error *err)
{
    size_t width = strlen(prefix) + 21; /* the digits of any size_t and the NUL */
    const char **names = NULL;
    char *text = NULL;
    GESS_MODEL_ALLOC(m, &names, dim, err);
    GESS_TRY(gess__model_alloc(m, &text, dim, width, err));
    for (size_t i = 0; i < dim; i++) {
        snprintf(text + i * width, width, "%s%zu", prefix, first + i);
        names[i] = text + i * width;
    }
    m->model.names = names;
    return GESS_OK;
}

const char *gess__parameter_name(const gess_model *model, size_t i, char buffer[32])
{
    if (model->names != NULL) return model->names[i];
    snprintf(buffer, 32, "x%zu", i + 1);
    return buffer;
}

int gess__model_on_processor(const gess_model *model, gess_error *err)
{
    if (model->logp != NULL || model->logp_blobs != NULL || model->elsewhere != NULL) return GESS_OK;
    if (model->lane.name == NULL) return GESS_OK; /* gess__model_check() says that it has none at all */
    if (model->lane.file != NULL)
        return gess__fail(err, GESS_ERR_MODEL,
                          "the model %.500s needs a C++ compiler to run on the processor, and none is found: install "
                          "g++ or "
                          "clang++, or name one in the environment variable CXX, or use a GPU (--device cuda)",
                          model->lane.file);
    return gess__fail(err, GESS_ERR_MODEL,
                      "the density of this model runs on a GPU only (it has device_logp and no logp): set the option "
                      "device to cuda");
}

int gess__model_logp(const gess_model *model, unsigned worker, size_t n, const double *x, double *logp)
{
    double *blobs = NULL;
    int code;
    if (model->logp == NULL && model->elsewhere != NULL) return model->elsewhere(model->elsewhere_data, n, x, logp);
    if (model->logp == NULL && gess__alloc_bytes(&blobs, n * model->blobs, sizeof *blobs, "blobs", NULL) != GESS_OK)
        return -1;
    unsigned arithmetic = gess__arithmetic();
    if (model->logp != NULL)
        code = model->logp(model->user, worker, n, model->dim, x, logp);
    else
        code = model->logp_blobs(model->user, worker, n, model->dim, x, logp, blobs);
    gess__arithmetic_restore(arithmetic);
    free(blobs);
    return code;
}

size_t gess__model_columns(const gess_model *model)
{
    return 1 + model->dim + model->derived + model->blobs;
}

const char *gess__column_name(const gess_model *model, size_t column, char buffer[32])
{
    GESS_ASSERT(column < gess__model_columns(model));
    if (column == 0) return "lp__";
    size_t i = column - 1;
    if (i < model->dim) return gess__parameter_name(model, i, buffer);
    i -= model->dim;
    if (i < model->derived) return model->derived_names[i];
    i -= model->derived;
    if (model->blob_names != NULL) return model->blob_names[i];
    snprintf(buffer, 32, "blob%zu", i + 1);
    return buffer;
}

int gess__model_positive_range(gess__model *m, size_t first, size_t count, gess_error *err)
{
    double *lower = NULL;
    GESS_ASSERT(m->model.dim > 0 && first + count <= m->model.dim);
    GESS_MODEL_ALLOC(m, &lower, m->model.dim, err);
    for (size_t i = 0; i < m->model.dim; i++) lower[i] = i >= first && i < first + count ? 0.0 : -INFINITY;
    m->model.lower = lower;
    return GESS_OK;
}

int gess__model_positive(gess__model *m, size_t count, gess_error *err)
{
    return gess__model_positive_range(m, 0, count, err);
}

/* ---- opening and closing ---- */

static int open_builtin(gess__model *m, const char *specification, char *text, const char *data, gess_error *err)
{
    gess__parameters p = {.model = text};
    char *colon = strchr(text, ':');
    if (colon != NULL) *colon = '\0';
    const gess__builtin *row = find_builtin(text);
    if (row == NULL) {
        word_list names = {0};
        gess__nearest nearest = {.word = text};
        char hint[128];
        for (size_t i = 0; i < BUILTINS; i++) {
            add_word(&names, builtins[i].name);
            gess__nearest_offer(&nearest, builtins[i].name);
        }
        return gess__fail(err, GESS_ERR_USAGE,
                          "unknown model '%.100s'%s; the built-in models are: %s; see `gess models`; a file needs a "
                          "slash: ./%.100s",
                          specification, gess__did_you_mean(&nearest, hint), names.text, text);
    }
    if (data != NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--data %.400s: the built-in model %.400s takes no data file", data,
                          specification);
    if (colon != NULL) GESS_TRY(split_parameters(&p, colon + 1, err));
    GESS_TRY(row->open(m, &p, err));
    m->model.trusted = true;
    return check_all_used(&p, err);
}

static const struct {
    const char *prefix;
    int (*open)(gess__model *m, const char *what, const char *data, gess_error *err);
} prefixes[] = {
#define GESS_PREFIX_LOADER(identifier, prefix) {prefix, gess__open_##identifier},
#include "model/loaders.def"
#undef GESS_PREFIX_LOADER
};

static const struct {
    const char *suffix;
    int (*open)(gess__model *m, const char *path, const char *data, gess_error *err);
} suffixes[] = {
#define GESS_SUFFIX_LOADER(identifier, suffix) {suffix, gess__open_##identifier},
#include "model/loaders.def"
#undef GESS_SUFFIX_LOADER
};

static bool ends_in(const char *text, const char *suffix)
{
    size_t length = strlen(text), end = strlen(suffix);
    return length > end && strcmp(text + length - end, suffix) == 0;
}

static int open_any(gess__model *m, const char *specification, char *text, const char *data, gess_error *err)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].prefix);
        if (strncmp(specification, prefixes[i].prefix, length) == 0)
            return prefixes[i].open(m, specification + length, data, err);
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_in(specification, suffixes[i].suffix)) return suffixes[i].open(m, specification, data, err);
    /* a path has a slash: library folders and the current folder are not searched */
    const char *slash = strchr(specification, '/'), *colon = strchr(specification, ':');
    if (slash != NULL && (colon == NULL || slash < colon)) return gess__shared_object_open(m, specification, data, err);
    return open_builtin(m, specification, text, data, err);
}

/* The title: of a shared object, the name that its density has or, without one, that of its file. */
static int take_title(gess__model *m, const char *specification, gess_error *err)
{
    const char *own = m->model.name, *slash = strrchr(specification, '/');
    char *title = NULL;
    if (m->close == NULL) own = specification; /* built in */
    if (own == NULL || *own == '\0') own = slash != NULL ? slash + 1 : specification;
    size_t length = strlen(own);
    const bool file = own != m->model.name && m->close != NULL;
    GESS_TRY(gess__model_alloc(m, &title, length + 1, 1, err));
    strcpy(title, own);
    if (file && (ends_in(title, ".so") || ends_in(title, ".cu"))) title[length - 3] = '\0';
    m->model.title = title;
    return GESS_OK;
}

int gess_model_open(gess_model **model, const char *specification, const char *data, gess_error *err)
{
    GESS_REQUIRE(model, err);
    *model = NULL;
    GESS_REQUIRE(specification, err);
    gess__model *m = NULL;
    char *text = NULL;
    GESS_ALLOC(&m, 1, err);
    int status = gess__copy_text(&text, specification, err);
    if (status == GESS_OK) status = open_any(m, specification, text, data, err);
    free(text);
    if (status == GESS_OK) status = take_title(m, specification, err);
    if (status == GESS_OK) { /* the specification opens the model again; it goes into config.json */
        char *name = NULL;
        status = gess__model_alloc(m, &name, strlen(specification) + 1, 1, err);
        if (status == GESS_OK) m->model.name = strcpy(name, specification);
    }
    if (status == GESS_OK)
        *model = &m->model;
    else
        gess_model_free(&m->model);
    return status;
}

void gess_model_free(gess_model *model)
{
    if (model == NULL) return;
    gess__model *m = (gess__model *)model;
    if (m->close != NULL) m->close(m);
    for (size_t i = 0; i < m->memory_count; i++) free(m->memory[i]);
    free(m);
}

/* ---- data files ---- */

/* share/gess/data under the prefix whose bin/ holds the running command; "" if that is not known. */
static void folder_beside_command(char *path, size_t size)
{
    static const char data[] = "share/gess/data";
    gess__program_folder(path, size);
    char *slash = strrchr(path, '/');
    if (slash != NULL) *slash = '\0';
    size_t used = strlen(path);
    if (used == 0 || used + 1 + sizeof data > size)
        path[0] = '\0';
    else
        snprintf(path + used, size - used, "/%s", data);
}

int gess__data_path(const char *name, char *path, size_t size, gess_error *err)
{
    char beside[4096];
    folder_beside_command(beside, sizeof beside);
    const char *const folders[] = {getenv("GESS_DATA"), beside, GESS_INSTALLED_DATA, GESS_SOURCE_DATA};
    word_list tried = {0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (folders[i] == NULL || *folders[i] == '\0') continue;
        int length = snprintf(path, size, "%s/%s", folders[i], name);
        if (length > 0 && (size_t)length < size && access(path, R_OK) == 0) return GESS_OK;
        add_word(&tried, folders[i]);
    }
    return gess__fail(err, GESS_ERR_MODEL,
                      "cannot find the data file %s in %s; set GESS_DATA to the folder that holds it", name,
                      tried.text);
}

size_t gess__describe_parameter(const gess_model *model, size_t i, double value, char *text, size_t used, size_t size)
{
    char buffer[32];
    GESS_ASSERT(i < model->dim && used < size && size >= 5);
    int more = gess__format(text + used, size - used, "%s%s = %.17g", i > 0 ? ", " : "",
                            gess__parameter_name(model, i, buffer), value);
    if (more >= 0 && (size_t)more < size - used) return used + (size_t)more;
    snprintf(text + (used > size - 5 ? size - 5 : used), 5, "…");
    return size;
}
