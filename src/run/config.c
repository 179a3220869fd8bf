/* Writes config.json and reads it for `gess resume` and `gess sample --config`: verifies its checksum, and compares the
 * version and the linear algebra in it with the present ones. */
#include "run/config.h"

#include "base/checksum.h"
#include "base/cpu.h"
#include "base/linalg.h"
#include "base/options.h"
#include "base/sha256.h"
#include "base/shell.h"
#include "model/exec.h"
#include "run/directory.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *options_json(const gess_options *options)
{
    json_t *object = json_object();
    const gess__option *row;
    for (size_t i = 0; (row = gess__option_row(i)) != NULL; i++) {
        char shown[64];
        const char *text = shown;
        if (row->type == GESS__OPTION_TEXT)
            text = *(const char *const *)(const void *)((const char *)options + row->offset);
        else
            gess__option_show(options, row, shown, sizeof shown);
        json_object_set_new(object, row->name, text == NULL ? json_null() : json_string_nocheck(text));
    }
    return object;
}

/* CRC-32 of all keys but "checksum". */
static int config_checksum(json_t *root, char text[16], gess_error *err)
{
    json_t *copy = json_copy(root);
    if (copy != NULL) json_object_del(copy, "checksum");
    char *dumped = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(copy);
    if (dumped == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for config.json");
    snprintf(text, 16, "%08x", (unsigned)gess__crc32(0, dumped, strlen(dumped)));
    free(dumped);
    return GESS_OK;
}

static json_t *build_json(void)
{
    return json_pack("{s:s, s:s, s:s}", "blas", gess__linalg_name(), "cpu", gess__cpu_name(), "compiler", __VERSION__);
}

/* Adds the SHA-256 of a file under a key; nothing if there is no such file. */
static void add_hash(json_t *object, const char *key, const char *path)
{
    char text[GESS__SHA256_TEXT];
    if (path != NULL && gess__sha256_file(path, text, NULL) == GESS_OK)
        json_object_set_new(object, key, json_string(text));
}

/* Hashes of the files that the density is made of: the plug-in or source file, if the model is one, or the files that
 * the command of a program names; and the data. */
static json_t *hashes_json(const gess_run *run)
{
    json_t *object = json_object();
    const char *name = run->model->name;
    const char *source = run->model->lane.file;
    if (source != NULL)
        add_hash(object, "source", source);
    else if (name != NULL && strchr(name, '/') != NULL && strchr(name, ':') == NULL)
        add_hash(object, "plugin", name);
    const char *command = gess__exec_command(name);
    char path[4096];
    if (command != NULL) {
        json_t *files = json_object();
        for (size_t i = 0; gess__exec_file(command, i, path, sizeof path); i++) add_hash(files, path, path);
        if (json_object_size(files) > 0) json_object_set(object, "program", files);
        json_decref(files);
    }
    add_hash(object, "data", run->options.data);
    return object;
}

uint64_t gess__config_sources(const gess_run *run)
{
    json_t *hashes = hashes_json(run);
    char *text = json_dumps(hashes, JSON_COMPACT | JSON_SORT_KEYS);
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *c = text; c != NULL && *c != '\0'; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    free(text);
    json_decref(hashes);
    return hash;
}

/* Adds the checksum and writes the file. Takes the reference. */
static int write_config(const gess_run *run, json_t *root, gess_error *err)
{
    char checksum[16];
    int status = config_checksum(root, checksum, err);
    if (status != GESS_OK) {
        json_decref(root);
        return status;
    }
    json_object_set_new(root, "checksum", json_string(checksum));
    return gess__directory_write_json(run->folder, run->directory, "config.json", root, err);
}

/* Parameters with two finite bounds, counted from 1: those that are periodic, or those that are not. NULL: there are
 * none. */
static json_t *bounded_json(const gess_model *model, int periodic)
{
    json_t *list = json_array();
    for (size_t i = 0; model->lower != NULL && model->upper != NULL && i < model->dim; i++)
        if ((model->periodic != NULL && model->periodic[i]) == periodic && isfinite(model->lower[i]) &&
            isfinite(model->upper[i]))
            json_array_append_new(list, json_pack("{s:I, s:f, s:f}", "parameter", (json_int_t)i + 1, "lower",
                                                  model->lower[i], "upper", model->upper[i]));
    if (json_array_size(list) > 0) return list;
    json_decref(list);
    return NULL;
}

int gess__config_write(const gess_run *run, gess_error *err)
{
    json_t *root =
        json_pack("{s:s, s:s?, s:I, s:o, s:o}", "gess", gess_version(), "model", run->model->name, "dim",
                  (json_int_t)run->model->dim, "options", options_json(&run->options), "build", build_json());
    if (run->model->title != NULL && run->model->name != NULL && strcmp(run->model->title, run->model->name) != 0)
        json_object_set_new(root, "title", json_string_nocheck(run->model->title));
    json_t *hashes = hashes_json(run);
    if (json_object_size(hashes) > 0) json_object_set(root, "sha256", hashes);
    json_decref(hashes);
    if (run->model->blobs > 0) json_object_set_new(root, "blobs", json_integer((json_int_t)run->model->blobs));
    json_t *periodic = bounded_json(run->model, 1), *bounded = bounded_json(run->model, 0);
    if (periodic != NULL) json_object_set_new(root, "periodic", periodic);
    if (bounded != NULL) json_object_set_new(root, "bounded", bounded);
    return write_config(run, root, err);
}

int gess__config_verify(const char *path, json_t *config, gess_error *err)
{
    char checksum[16], quoted[4096];
    const char *found = json_string_value(json_object_get(config, "checksum"));
    GESS_TRY(config_checksum(config, checksum, err));
    if (found != NULL && strcmp(found, checksum) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE,
                      "%s is not as the run wrote it: it was edited or damaged. Restore it to resume this run, or "
                      "start "
                      "another with `gess sample --config %s`",
                      path, gess__shell_quote(path, quoted, sizeof quoted));
}

int gess__config_differs(json_t *config, char *text, size_t size)
{
    const char *version = json_string_value(json_object_get(config, "gess"));
    const char *blas = json_string_value(json_object_get(json_object_get(config, "build"), "blas"));
    size_t used = 0;
    text[0] = '\0';
    if (version == NULL || strcmp(version, gess_version()) != 0)
        used = (size_t)snprintf(text, size, "gess %s, now %s", version != NULL ? version : "?", gess_version());
    /* compiler and processor do not matter; early versions made fits with a BLAS, whose bits do */
    if (used < size && (blas == NULL || strcmp(blas, gess__linalg_name()) != 0))
        snprintf(text + used, size - used, "%sblas %s, now %s", used > 0 ? "; " : "", blas != NULL ? blas : "?",
                 gess__linalg_name());
    return text[0] != '\0';
}

int gess__config_store_draws(const gess_run *run, gess_error *err)
{
    char path[4096], draws[64];
    GESS_TRY(gess__directory_path(run->directory, "config.json", path, sizeof path, err));
    GESS_TRY(gess_options_get(&run->options, "draws", draws, sizeof draws, err));
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL), *options = json_object_get(root, "options");
    const char *stored = json_string_value(json_object_get(options, "draws"));
    int status = GESS_OK;
    if (stored != NULL && strcmp(stored, draws) != 0) {
        status = gess__config_verify(path, root, err);
        if (status == GESS_OK) {
            json_object_set_new(options, "draws", json_string(draws));
            return write_config(run, root, err);
        }
    }
    json_decref(root);
    return status;
}

int gess__config_store_change(const gess_run *run, double difference, gess_error *err)
{
    char path[4096];
    json_error_t where;
    GESS_TRY(gess__directory_path(run->directory, "config.json", path, sizeof path, err));
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s, line %d: %s", path, where.line, where.text);
    int status = gess__config_verify(path, root, err);
    if (status != GESS_OK) {
        json_decref(root);
        return status;
    }
    json_t *changes = json_object_get(root, "density_changed");
    if (!json_is_array(changes)) {
        json_object_set_new(root, "density_changed", json_array());
        changes = json_object_get(root, "density_changed");
    }
    json_array_append_new(changes,
                          json_pack("{s:I, s:I, s:f, s:o, s:o}", "iterations", (json_int_t)run->stats.iterations,
                                    "draws", (json_int_t)run->stats.draws, "difference", difference, "sha256",
                                    hashes_json(run), "build", build_json()));
    return write_config(run, root, err);
}

/* Sets one option from config.json, in which every value is a text. */
static int set_option(gess_options *options, const char *path, const char *name, const json_t *value, gess_error *err)
{
    if (strcmp(name, "overwrite") == 0 || json_is_null(value)) return GESS_OK;
    if (!json_is_string(value))
        return gess__fail(err, GESS_ERR_USAGE, "%s: the value of \"%s\" is not text", path, name);
    int status = gess_options_set(options, name, json_string_value(value), err);
    return status == GESS_OK ? GESS_OK : gess__blame(err, status, "%s", path);
}

int gess__config_read(const char *path, gess_options *options, const char **model, json_t **keep, gess_error *err)
{
    json_error_t where;
    *keep = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (*keep == NULL && where.line < 0) return gess__fail(err, GESS_ERR_FILE, "%s", where.text); /* it did not open */
    if (*keep == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s, line %d: %s", path, where.line, where.text);
    *model = json_string_value(json_object_get(*keep, "model"));
    if (*model == NULL || !json_is_object(json_object_get(*keep, "options")))
        return gess__fail(err, GESS_ERR_FILE, "%s is not a gess config.json: it has no \"model\" or no \"options\"",
                          path);
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(*keep, "options"), name, value)
    {
        GESS_TRY(set_option(options, path, name, value, err));
    }
    return GESS_OK;
}

void gess__config_version(const char *directory, char *version, size_t size)
{
    char path[4096];
    json_t *config = NULL;
    if (gess__directory_path(directory, "config.json", path, sizeof path, NULL) == GESS_OK)
        config = json_load_file(path, 0, NULL);
    const char *text = json_string_value(json_object_get(config, "gess"));
    snprintf(version, size, "%s", text != NULL ? text : "?");
    json_decref(config);
}

int gess_options_read(gess_options **options, const char *path, char *model, size_t size, gess_error *err)
{
    const char *name = NULL;
    json_t *keep = NULL;
    GESS_REQUIRE(options, err);
    *options = NULL;
    GESS_REQUIRE(path, err);
    GESS_REQUIRE(model, err);
    GESS_TRY(gess_options_new(options, err));
    int status = gess__config_read(path, *options, &name, &keep, err);
    if (status == GESS_OK && strlen(name) >= size)
        status = gess__fail(err, GESS_ERR_USAGE, "gess_options_read: the model needs %zu bytes, and there are %zu",
                            strlen(name) + 1, size);
    if (status == GESS_OK) strcpy(model, name);
    json_decref(keep);
    if (status == GESS_OK) return GESS_OK;
    gess_options_free(*options);
    *options = NULL;
    return status;
}

int gess_config_check(const char *path, char *text, size_t size, gess_error *err)
{
    json_error_t where;
    GESS_REQUIRE(path, err);
    GESS_REQUIRE(text, err);
    if (size > 0) text[0] = '\0';
    json_t *config = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (config == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s, line %d: %s", path, where.line, where.text);
    int status = gess__config_verify(path, config, err);
    if (status == GESS_OK && size > 0) gess__config_differs(config, text, size);
    json_decref(config);
    return status;
}

int gess_build(gess_build_info *info, size_t size, gess_error *err)
{
    GESS_REQUIRE(info, err);
    const gess_build_info all = {.version = gess_version(),
                                 .blas = gess__linalg_name(),
                                 .cpu = gess__cpu_name(),
                                 .compiler = __VERSION__};
    memcpy(info, &all, size < sizeof all ? size : sizeof all);
    return GESS_OK;
}
