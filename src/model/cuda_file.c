/* The loader of models in CUDA source files (<gess/gess_cuda.h>). The file is read, its lines `// gess:` describe the
 * model, the table of --data becomes the numbers that its functions get, and the machine's C++ compiler makes the
 * density for the processor. Its text goes to the GPU's compiler when a run begins on one (cuda/compile.c). */
#include "model/cuda_file.h"

#include "base/mem.h"
#include "model/shared_object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 1 << 26 };

typedef struct source {
    gess__cuda_host host;
    const double *numbers;
} source;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    const source *s = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = s->host.logp(dim, s->numbers, x + i * dim);
    return 0;
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    const source *s = user;
    (void)worker, (void)derived;
    s->host.derived(dim, s->numbers, x, out);
    return 0;
}

static int read_text(gess__model *m, const char *path, char **text, gess_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > MAX_BYTES)
        return gess__fail(err, GESS_ERR_MODEL, "cannot open the model %.500s: %s", path,
                          errno != 0 ? strerror(errno) : "it is not a text file");
    size_t size = (size_t)about.st_size;
    GESS_TRY(gess__model_alloc(m, text, size + 1, 1, err));
    FILE *file = fopen(path, "rb");
    if (file == NULL) return gess__fail(err, GESS_ERR_MODEL, "cannot read the model %.500s: %s", path, strerror(errno));
    size_t got = fread(*text, 1, size, file);
    fclose(file);
    if (got != size) return gess__fail(err, GESS_ERR_MODEL, "cannot read the model %.500s to its end", path);
    return GESS_OK;
}

/* The numbers of gess__lane_source(): rows, columns, values. */
static int pack_data(gess__model *m, const gess__table *data, gess_error *err)
{
    size_t count = data->rows * data->columns;
    double *numbers = NULL;
    GESS_MODEL_ALLOC(m, &numbers, 2 + count, err);
    numbers[0] = (double)data->rows;
    numbers[1] = (double)data->columns;
    if (count > 0) memcpy(numbers + 2, data->values, count * sizeof *numbers);
    m->model.lane.numbers = numbers;
    m->model.lane.count = 2 + count;
    return GESS_OK;
}

static int describe(gess__model *m, const char *path, const char *text, const char *data, gess_error *err)
{
    gess__cuda_lines *lines = NULL;
    gess__table table = {0};
    GESS_ALLOC(&lines, 1, err);
    int status = gess__cuda_lines_read(lines, text, path, err);
    if (status == GESS_OK) status = gess__shared_object_data(path, data, err);
    if (status == GESS_OK && data != NULL) status = gess__table_read(&table, data, err);
    if (status == GESS_OK) status = gess__cuda_lines_apply(lines, m, &table, path, err);
    if (status == GESS_OK) status = pack_data(m, &table, err);
    if (data != NULL) gess__table_free(&table);
    free(lines);
    return status;
}

static void close_source(gess__model *m)
{
    gess__cuda_host_close(&((source *)m->loaded)->host);
}

int gess__open_cuda_file(gess__model *m, const char *path, const char *data, gess_error *err)
{
    source *s = NULL;
    char *text = NULL;
    errno = 0;
    GESS_MODEL_ALLOC(m, &s, 1, err);
    GESS_TRY(read_text(m, path, &text, err));
    GESS_TRY(describe(m, path, text, data, err));
    m->model.logp = logp;
    m->model.derive = m->model.derived > 0 ? derive : NULL;
    m->model.user = s;
    m->loaded = s;
    m->close = close_source;
    s->numbers = m->model.lane.numbers;
    char *copy = NULL;
    GESS_TRY(gess__model_alloc(m, &copy, strlen(path) + 1, 1, err));
    m->model.lane.name = "source";
    m->model.lane.file = strcpy(copy, path);
    m->model.lane.text = text;
    int status = gess__model_check(&m->model, err);
    if (status != GESS_OK) return gess__blame(err, status, "%.400s", path);
    bool found;
    status = gess__cuda_host_open(&s->host, path, m->model.derived > 0, &found, err);
    if (found || m->model.derived > 0) return status;
    m->model.logp = NULL; /* it can still run on a GPU: gess__model_on_processor() */
    return GESS_OK;
}
