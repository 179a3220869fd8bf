/* Files that hold many others: cells.jsonl.gz, the results of all cells, a line of JSON each; manifest.json, what a
 * folder of results was made with, and the checksums of its files; and reproduction.tar.gz (POSIX ustar), all of these
 * files in one. None of them depends on the time, except for the date in the manifest. */
#include "reproduce/reproduce.h"

#include "base/cpu.h"
#include "base/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define TARBALL "reproduction.tar.gz"
#define MANIFEST "manifest.json"

/* ---- compressed files ---- */

/* A file that is written under a temporary name. */
typedef struct packed {
    gzFile out;
    char path[4096], temporary[4200];
} packed;

static int packed_open(packed *p, const gess__reproduction *r, const char *name, gess_error *err)
{
    if (snprintf(p->path, sizeof p->path, "%s/%s", r->directory, name) >= (int)sizeof p->path)
        return gess__fail(err, GESS_ERR_USAGE, "the path of the folder is too long: %.200s", r->directory);
    snprintf(p->temporary, sizeof p->temporary, "%s.%ld.tmp", p->path, (long)getpid());
    p->out = gzopen(p->temporary, "wb9e");
    if (p->out == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", p->temporary, strerror(errno));
    return GESS_OK;
}

/* Closes the file and gives it its name; removes it if `status` is a failure. */
static int packed_close(packed *p, int status, gess_error *err)
{
    int bad = gzclose(p->out) != Z_OK;
    if (status == GESS_OK && (bad || rename(p->temporary, p->path) != 0))
        status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", p->path, strerror(errno));
    if (status != GESS_OK) unlink(p->temporary);
    return status;
}

static int packed_put(packed *p, const void *bytes, size_t size, gess_error *err)
{
    if (size == 0 || gzfwrite(bytes, 1, size, p->out) == size) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", p->temporary, strerror(errno));
}

/* ---- cells ---- */

/* Reads a line of any length. Returns 0 at the end of the file. */
static int read_line(gzFile in, char **line, size_t *room)
{
    size_t used = 0;
    for (;;) {
        if (*room - used < 4096) {
            char *more = realloc(*line, 2 * *room + 8192);
            if (more == NULL) return 0;
            *line = more;
            *room = 2 * *room + 8192;
        }
        if (gzgets(in, *line + used, (int)(*room - used)) == NULL) return used > 0;
        used += strlen(*line + used);
        if ((*line)[used - 1] == '\n') return 1;
    }
}

int gess__cells_archive_load(const char *path, json_t **archive, gess_error *err)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    int status = GESS_OK;
    *archive = NULL;
    gzFile in = gzopen(path, "rbe");
    if (in == NULL && errno == ENOENT) return GESS_OK;
    if (in == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    *archive = json_object();
    while (status == GESS_OK && read_line(in, &line, &room)) {
        json_t *root = json_loads(line, 0, NULL);
        const char *file = gess__json_text(root, "file");
        number++;
        if (file[0] == '\0' || json_object_set(*archive, file, root) != 0)
            status = gess__fail(err, GESS_ERR_FILE, "%s, line %zu: this is not a cell", path, number);
        json_decref(root);
    }
    int bad = !gzeof(in);
    bad |= gzclose(in) != Z_OK; /* the end of the stream is missing */
    if (status == GESS_OK && bad) status = gess__fail(err, GESS_ERR_FILE, "%s is damaged", path);
    free(line);
    if (status != GESS_OK) {
        json_decref(*archive);
        *archive = NULL;
    }
    return status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines of an archive, by file name. */
static int put_cells(packed *p, json_t *archive, gess_error *err)
{
    size_t count = json_object_size(archive), i = 0;
    const char **names = calloc(count + 1, sizeof *names), *key;
    json_t *value;
    int status = GESS_OK;
    if (names == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for %zu cells", count);
    json_object_foreach(archive, key, value) names[i++] = key;
    qsort(names, count, sizeof *names, by_text);
    for (i = 0; status == GESS_OK && i < count; i++) {
        char *line =
            json_dumps(json_object_get(archive, names[i]), JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
        if (line == NULL) status = gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the cell %s", names[i]);
        if (status == GESS_OK) status = packed_put(p, line, strlen(line), err);
        if (status == GESS_OK) status = packed_put(p, "\n", 1, err);
        free(line);
    }
    free(names);
    return status;
}

int gess__cells_archive_store(const gess__cells *cells, const gess__reproduction *r, gess_error *err)
{
    char path[4200];
    packed p;
    json_t *archive = NULL;
    snprintf(path, sizeof path, "%s/%s", r->directory, GESS__CELLS_ARCHIVE);
    GESS_TRY(gess__cells_archive_load(path, &archive, err));
    if (archive == NULL) archive = json_object();
    json_object_update_missing(archive, cells->carried);
    for (size_t i = 0; i < cells->count; i++) {
        const gess__cell *cell = &cells->cell[i];
        if (cell->result == NULL) continue;
        json_object_set_new(archive, cell->file,
                            json_pack("{s:s, s:O, s:O}", "file", cell->file, "settings", cell->settings, "result",
                                      cell->result));
    }
    int status = packed_open(&p, r, GESS__CELLS_ARCHIVE, err);
    if (status == GESS_OK) status = packed_close(&p, put_cells(&p, archive, err), err);
    json_decref(archive);
    return status;
}

/* ---- all files ---- */

/* The files of a folder that belong to the results. */
static int is_result(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    int temporary = length > 4 && strcmp(entry->d_name + length - 4, ".tmp") == 0;
    return entry->d_name[0] != '.' && !temporary && strcmp(entry->d_name, TARBALL) != 0 &&
           strcmp(entry->d_name, "cells") != 0;
}

static int put_member(packed *p, const char *path, const char *name, gess_error *err)
{
    char head[512] = "", block[65536];
    struct stat facts;
    FILE *in = fopen(path, "re");
    if (in == NULL || fstat(fileno(in), &facts) != 0 || !S_ISREG(facts.st_mode) || strlen(name) > 60) {
        if (in != NULL) fclose(in);
        return GESS_OK;
    }
    snprintf(head, 100, "gess-reproduction/%s", name);
    memcpy(head + 100, "0000644", 8);
    memcpy(head + 108, "0000000", 8);
    memcpy(head + 116, "0000000", 8);
    snprintf(head + 124, 12, "%011llo", (unsigned long long)facts.st_size);
    memcpy(head + 136, "00000000000", 12);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, /* NOLINT(bugprone-not-null-terminated-result): the format has no room for it */
           "ustar\0"
           "00",
           8);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof head; i++) sum += (unsigned char)head[i];
    snprintf(head + 148, 8, "%06o", sum);
    int status = packed_put(p, head, sizeof head, err);
    size_t got, total = 0;
    while (status == GESS_OK && (got = fread(block, 1, sizeof block, in)) > 0) {
        status = packed_put(p, block, got, err);
        total += got;
    }
    if (status == GESS_OK && (ferror(in) || total != (size_t)facts.st_size))
        status = gess__fail(err, GESS_ERR_FILE, "cannot read %s", path);
    fclose(in);
    memset(block, 0, 512);
    return status == GESS_OK ? packed_put(p, block, (512 - total % 512) % 512, err) : status;
}

static int store_tarball(const gess__reproduction *r, int count, struct dirent **entries, gess_error *err)
{
    static const char end[1024];
    char path[4400];
    packed p;
    GESS_TRY(packed_open(&p, r, TARBALL, err));
    int status = GESS_OK;
    for (int i = 0; status == GESS_OK && i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", r->directory, entries[i]->d_name);
        status = put_member(&p, path, entries[i]->d_name, err);
    }
    if (status == GESS_OK) status = packed_put(&p, end, sizeof end, err);
    return packed_close(&p, status, err);
}

/* Names, commands and versions of the pages; checksums of the files. */
static int describe(const gess__reproduction *r, int count, struct dirent **entries, json_t *manifest, gess_error *err)
{
    char path[4400], digest[GESS__SHA256_TEXT];
    json_t *pages = json_object(), *files = json_object();
    json_object_set_new(manifest, "pages", pages);
    json_object_set_new(manifest, "files", files);
    for (size_t i = 0; gess__figure_row(i) != NULL; i++) {
        snprintf(path, sizeof path, "%s/%s.json", r->directory, gess__figure_row(i)->name);
        json_t *page = json_load_file(path, 0, NULL);
        if (page == NULL) continue;
        json_object_set_new(pages, gess__figure_row(i)->name,
                            json_pack("{s:o, s:O?}", "command", gess__page_command(page), "made with",
                                      json_object_get(page, "made with")));
        json_decref(page);
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, MANIFEST) == 0) continue;
        snprintf(path, sizeof path, "%s/%s", r->directory, entries[i]->d_name);
        GESS_TRY(gess__sha256_file(path, digest, err));
        json_object_set_new(files, entries[i]->d_name, json_string(digest));
    }
    return GESS_OK;
}

static void free_entries(int count, struct dirent **entries)
{
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
}

int gess__manifest_store(const gess__reproduction *r, gess_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(r->directory, &entries, is_result, alphasort);
    if (count < 0) return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", r->directory, strerror(errno));
    json_t *manifest = json_pack("{s:s, s:s}", "version", gess_version(), "cpu", gess__cpu_name());
    int status = describe(r, count, entries, manifest, err);
    if (status == GESS_OK) status = gess__store_json(r, MANIFEST, manifest, err);
    json_decref(manifest);
    free_entries(count, entries);
    if (status != GESS_OK) return status;
    count = scandir(r->directory, &entries, is_result, alphasort);
    if (count < 0) return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", r->directory, strerror(errno));
    status = store_tarball(r, count, entries, err);
    free_entries(count, entries);
    return status;
}
