/* The run directory and its config.json. */
#include "base/checksum.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/csv.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/options.h"
#include "model/model.h"
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every file that a run writes, checkpoints first; --overwrite removes these and nothing else. config.json
 * is replaced, never removed: there is no moment without one. */
static const char *const run_files[] = {"checkpoint",   "checkpoint.old", "draws.gess", "warmup.gess", "summary.json",
                                        "history.json", "report.html",    "log.txt",    "nans.csv",    "config.json"};
/* Files that are being written; alone they are no run. */
static const char *const passing_files[] = {"checkpoint.tmp", "config.json.tmp", "summary.json.tmp", "history.json.tmp",
                                            "lock"};
enum { RUN_FILES = sizeof run_files / sizeof *run_files, PASSING_FILES = sizeof passing_files / sizeof *passing_files };
static const char lock_file[] = "lock";

int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err)
{
    int length = snprintf(path, size, "%s/%s", directory, file);
    if (length > 0 && (size_t)length < size) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "the path of the run directory is too long: %.200s…", directory);
}

int gess__make_folders(const char *directory, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(directory, "", path, sizeof path, err));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", path, strerror(errno));
        *slash = '/';
    }
    return GESS_OK;
}

/* Counts the entries of a folder, and those of them that are a run's. */
static int look_into(const char *directory, size_t *entries, size_t *ours, gess_error *err)
{
    DIR *folder = opendir(directory);
    *entries = *ours = 0;
    if (folder == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot open the folder %s: %s", directory, strerror(errno));
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        int passing = 0;
        for (size_t i = 0; i < PASSING_FILES; i++) passing |= strcmp(entry->d_name, passing_files[i]) == 0;
        if (passing) continue;
        ++*entries;
        for (size_t i = 0; i < RUN_FILES; i++) *ours += strcmp(entry->d_name, run_files[i]) == 0;
    }
    closedir(folder);
    return GESS_OK;
}

/* flock() is released when the process ends, however it ends: a lock file without a process behind it is
 * no lock. The file itself stays, with the number of the last process that had it. */
int gess__directory_lock(gess_run *run, gess_error *err)
{
    char path[4096], owner[32] = "";
    GESS_TRY(gess__directory_path(run->directory, lock_file, path, sizeof path, err));
    run->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (run->lock < 0) return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    if (flock(run->lock, LOCK_EX | LOCK_NB) != 0) {
        ssize_t length = read(run->lock, owner, sizeof owner - 1);
        owner[length > 0 ? length : 0] = '\0';
        owner[strcspn(owner, "\n")] = '\0';
        close(run->lock);
        run->lock = -1;
        return gess__fail(err, GESS_ERR_USAGE,
                          "another gess (process %s) is writing to %s; wait for it, or choose another "
                          "directory with -o",
                          owner, run->directory);
    }
    int length = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (ftruncate(run->lock, 0) != 0 || pwrite(run->lock, owner, (size_t)length, 0) != length)
        return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    return GESS_OK;
}

void gess__directory_unlock(gess_run *run)
{
    if (run->lock >= 0) close(run->lock);
    run->lock = -1;
}

int gess__directory_make(gess_run *run, int overwrite, gess_error *err)
{
    const char *directory = run->directory;
    size_t entries, ours;
    GESS_TRY(gess__make_folders(directory, err));
    GESS_TRY(look_into(directory, &entries, &ours, err));
    if (entries > 0 && ours == 0)
        return gess__fail(err, GESS_ERR_USAGE, "%s exists and is not a run directory; choose another with -o",
                          directory);
    GESS_TRY(gess__directory_lock(run, err));
    if (ours == 0) return GESS_OK;
    if (!overwrite)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%s holds a run already; go on with it by `gess resume %s`, choose another with -o, or "
                          "replace it "
                          "with --overwrite",
                          directory, directory);
    for (size_t i = 0; i < RUN_FILES; i++) {
        char path[4096];
        if (strcmp(run_files[i], "config.json") == 0) continue;
        GESS_TRY(gess__directory_path(directory, run_files[i], path, sizeof path, err));
        if (unlink(path) != 0 && errno != ENOENT)
            return gess__fail(err, GESS_ERR_FILE, "cannot remove %s: %s", path, strerror(errno));
    }
    return GESS_OK;
}

void gess__run_log(const gess_run *run, const char *format, ...)
{
    char path[4096];
    if (run->directory == NULL || gess__directory_path(run->directory, "log.txt", path, sizeof path, NULL) != GESS_OK)
        return;
    FILE *file = fopen(path, "a"); /* a log that cannot be written must not end a run */
    if (file == NULL) return;
    fprintf(file, "%10.3f  ", gess__seconds() - run->started);
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}

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

int gess__directory_json(const char *directory, const char *file, json_t *root, gess_error *err)
{
    char path[4096], temporary[4096 + 8];
    int status = gess__directory_path(directory, file, path, sizeof path, err);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *out = status == GESS_OK && root != NULL ? fopen(temporary, "w") : NULL;
    bool good = out != NULL && json_dumpf(root, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER) == 0 &&
                fputc('\n', out) != EOF && fflush(out) == 0 && fsync(fileno(out)) == 0;
    if (out != NULL && fclose(out) != 0) good = false;
    json_decref(root);
    if (status != GESS_OK) return status;
    if (good && rename(temporary, path) == 0) return GESS_OK;
    int code = errno;
    unlink(temporary);
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(code));
}

/* CRC-32 of what the file says of the run and the build. */
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
    return json_pack("{s:s, s:s, s:s}", "blas", gess__blas_name(), "cpu", gess__cpu_name(), "compiler", __VERSION__);
}

int gess__config_write(const gess_run *run, gess_error *err)
{
    char checksum[16];
    json_t *root =
        json_pack("{s:s, s:s?, s:I, s:o, s:o}", "gess", gess_version(), "model", run->model->name, "dim",
                  (json_int_t)run->model->dim, "options", options_json(&run->options), "build", build_json());
    int status = config_checksum(root, checksum, err);
    if (status != GESS_OK) {
        json_decref(root);
        return status;
    }
    json_object_set_new(root, "checksum", json_string(checksum));
    return gess__directory_json(run->directory, "config.json", root, err);
}

int gess__config_verify(const char *path, json_t *config, gess_error *err)
{
    char checksum[16];
    const char *found = json_string_value(json_object_get(config, "checksum"));
    GESS_TRY(config_checksum(config, checksum, err));
    if (found != NULL && strcmp(found, checksum) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE,
                      "%s is not as the run wrote it: it was edited or damaged. Put it right to go on with this run, "
                      "or start another with `gess sample --config %s`",
                      path, path);
}

int gess__config_elsewhere(json_t *config, char *text, size_t size)
{
    json_t *here = build_json(), *there = json_object_get(config, "build");
    const char *name, *version = json_string_value(json_object_get(config, "gess"));
    json_t *value;
    size_t used = 0;
    text[0] = '\0';
    if (version == NULL || strcmp(version, gess_version()) != 0)
        used = (size_t)snprintf(text, size, "gess %s, now %s", version != NULL ? version : "?", gess_version());
    json_object_foreach(here, name, value)
    {
        const char *was = json_string_value(json_object_get(there, name));
        if (used >= size || (was != NULL && strcmp(was, json_string_value(value)) == 0)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %s, now %s", used > 0 ? "; " : "", name,
                                 was != NULL ? was : "?", json_string_value(value));
    }
    json_decref(here);
    return text[0] != '\0';
}

int gess__nans_write(const gess_run *run, gess_error *err)
{
    char path[4096], buffer[32];
    gess__nans all = {0};
    const gess__target *target = &run->ensemble[0]->target;
    GESS_ALLOC(&all.points, GESS__NANS_KEPT * target->dim, err);
    for (size_t m = 0; m < run->ensembles; m++) {
        const gess__nans *n = &run->ensemble[m]->nans;
        for (size_t i = 0; i < n->count; i++)
            gess__nans_note(&all, target->dim, n->keys[i].iteration, n->keys[i].chain, n->keys[i].angle,
                            n->points + i * target->dim);
    }
    int status = GESS_OK;
    if (all.count > 0) status = gess__directory_path(run->directory, "nans.csv", path, sizeof path, err);
    FILE *file = all.count > 0 && status == GESS_OK ? fopen(path, "w") : NULL;
    if (all.count > 0 && status == GESS_OK && file == NULL)
        status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    if (file != NULL) {
        fprintf(file, "iteration,chain");
        for (size_t i = 0; i < run->model->dim; i++) {
            fputc(',', file);
            gess__csv_put_name(file, gess__parameter_name(run->model, i, buffer));
        }
        fputc('\n', file);
        for (size_t k = 0; k < all.count; k++) {
            fprintf(file, "%llu,%llu", (unsigned long long)all.keys[k].iteration + 1,
                    (unsigned long long)all.keys[k].chain + 1);
            for (size_t i = 0; i < run->model->dim; i++)
                fprintf(file, ",%.17g", gess__bounds_one(&target->bounds, i, all.points + k * target->dim));
            fputc('\n', file);
        }
        int bad = ferror(file);
        if (fclose(file) != 0 || bad)
            status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    }
    free(all.points);
    return status;
}

/* One option of config.json; every value is written as text there. */
static int take_option(gess_options *options, const char *path, const char *name, const json_t *value, gess_error *err)
{
    if (strcmp(name, "overwrite") == 0 || json_is_null(value)) return GESS_OK;
    if (!json_is_string(value))
        return gess__fail(err, GESS_ERR_USAGE, "%s: the value of \"%s\" is not a text", path, name);
    int status = gess_options_set(options, name, json_string_value(value), err);
    return status == GESS_OK ? GESS_OK : gess__blame(err, status, "%s", path);
}

int gess__config_read(const char *path, gess_options *options, const char **model, json_t **keep, gess_error *err)
{
    json_error_t where;
    *keep = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
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
        GESS_TRY(take_option(options, path, name, value, err));
    }
    return GESS_OK;
}
