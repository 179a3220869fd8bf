/* Helpers of the built-in models: read a data file of data/ with its header, take parameter names from its columns, and
 * make room for the numbers of a lane density. The models are the other files of this folder; model.c has their
 * table. */
#include "model/builtin/builtin.h"

#include <string.h>

int gess__data_table(const char *file, gess__table *data, char *path, gess_error *err)
{
    GESS_TRY(gess__data_path(file, path, 4096, err));
    if (gess__table_read(data, path, err) != GESS_OK) return gess__blame(err, GESS_ERR_MODEL, "reading data");
    if (data->names != NULL) return GESS_OK;
    gess__table_free(data);
    return gess__fail(err, GESS_ERR_MODEL, "%s: a first line with the names of the columns is needed", path);
}

int gess__model_copy_names(gess__model *m, size_t literal_count, const char *const *literals, size_t count,
                           char *const *columns, gess_error *err)
{
    size_t bytes = 0;
    const char **names = NULL;
    char *text = NULL;
    for (size_t k = 0; k < count; k++) bytes += strlen(columns[k]) + 1;
    GESS_MODEL_ALLOC(m, &names, literal_count + count, err);
    GESS_MODEL_ALLOC(m, &text, bytes, err);
    for (size_t k = 0; k < literal_count; k++) names[k] = literals[k];
    for (size_t k = 0; k < count; k++) {
        size_t length = strlen(columns[k]) + 1;
        memcpy(text, columns[k], length);
        names[literal_count + k] = text;
        text += length;
    }
    m->model.names = names;
    return GESS_OK;
}

int gess__model_lane(gess__model *m, const char *name, size_t count, double **numbers, gess_error *err)
{
    GESS_MODEL_ALLOC(m, numbers, count, err);
    m->model.lane.name = name;
    m->model.lane.numbers = *numbers;
    m->model.lane.count = count;
    return GESS_OK;
}
