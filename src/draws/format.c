/* Opens `draws.gess`, reads and checks its header and the headers of its blocks. draws.c and reader.c read the draws
 * themselves; writer.c writes them. */
#include "draws/format.h"

#include "base/assert.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "base/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = sizeof GESS__DRAWS_MAGIC - 1, MAX_HEADER = 1 << 28 };

uint32_t gess__block_header_crc(const gess__block_header *header)
{
    return gess__crc32(0, &header->first_chain, sizeof *header - offsetof(gess__block_header, first_chain));
}

int gess__draws_damaged(const gess__draws_file *f, const char *what, uint64_t at, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "%s is damaged: %s (at byte %llu)", f->path, what, (unsigned long long)at);
}

static int not_draws(const gess__draws_file *f, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "%s is not a gess draws file", f->path);
}

int gess__draws_file_read(const gess__draws_file *f, uint64_t at, void *out, size_t count, gess_error *err)
{
    char *to = out;
    if (at > f->size || count > f->size - at)
        return gess__fail(err, GESS_ERR_FILE, "%s ends in the middle of a block (at byte %llu)", f->path,
                          (unsigned long long)f->size);
    while (count > 0) {
        ssize_t got = pread(f->file, to, count, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", f->path,
                              got == 0 ? "it has become shorter" : strerror(errno));
        to += got;
        at += (uint64_t)got;
        count -= (size_t)got;
    }
    return GESS_OK;
}

/* ---- the file's header ---- */

static int parse_header(gess__draws_file *f, const char *text, size_t length, gess_error *err)
{
    json_t *root = json_loadb(text, length, 0, NULL), *names = json_object_get(root, "columns");
    json_int_t chains = json_integer_value(json_object_get(root, "chains"));
    json_int_t thin = json_integer_value(json_object_get(root, "thin"));
    size_t columns = json_array_size(names);
    const char *first = json_string_value(json_array_get(names, 0));
    int status = GESS_OK;
    if (chains < 1 || thin < 1 || first == NULL || strcmp(first, "lp__") != 0)
        status = gess__draws_damaged(f, "header", 16, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&f->names, columns, sizeof *f->names, "names", err);
    if (status == GESS_OK) f->columns = columns;
    for (size_t i = 0; status == GESS_OK && i < columns; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        status = name == NULL ? gess__draws_damaged(f, "header", 16, err) : gess__copy_text(&f->names[i], name, err);
    }
    json_int_t hidden = json_integer_value(json_object_get(root, "hidden"));
    json_int_t parameters = json_integer_value(json_object_get(root, "parameters"));
    if (status == GESS_OK && (hidden < 0 || parameters < 0 || (uint64_t)hidden >= columns ||
                              (uint64_t)parameters >= columns - (uint64_t)hidden))
        status = gess__draws_damaged(f, "header", 16, err);
    if (status == GESS_OK) {
        f->hidden = (size_t)hidden;
        f->parameters = (size_t)parameters;
    }
    f->chains = (size_t)chains;
    f->thin = (uint64_t)thin;
    json_decref(root);
    return status;
}

static int read_header(gess__draws_file *f, gess_error *err)
{
    char magic[MAGIC_BYTES], *text = NULL;
    uint32_t lengths[2], crc; /* lengths: the version, and the bytes of the JSON text */
    uint64_t at = sizeof magic + sizeof lengths;
    if (f->size < at) return not_draws(f, err);
    GESS_TRY(gess__draws_file_read(f, 0, magic, sizeof magic, err));
    if (memcmp(magic, GESS__DRAWS_MAGIC, sizeof magic) != 0) return not_draws(f, err);
    GESS_TRY(gess__draws_file_read(f, sizeof magic, lengths, sizeof lengths, err));
    if (lengths[0] != GESS__DRAWS_VERSION)
        return gess__fail(err, GESS_ERR_FILE, "%s has format version %u; this gess reads version %d", f->path,
                          lengths[0], GESS__DRAWS_VERSION);
    if (lengths[1] > MAX_HEADER || lengths[1] > f->size) return gess__draws_damaged(f, "header length", at, err);
    GESS_ALLOC(&text, lengths[1], err);
    int status = gess__draws_file_read(f, at, text, lengths[1], err);
    if (status == GESS_OK) status = gess__draws_file_read(f, at + lengths[1], &crc, sizeof crc, err);
    if (status == GESS_OK) {
        uint32_t is = gess__crc32(gess__crc32(0, lengths, sizeof lengths), text, lengths[1]);
        status =
            is == crc ? parse_header(f, text, lengths[1], err) : gess__draws_damaged(f, "header checksum", at, err);
    }
    free(text);
    f->blocks_at = at + lengths[1] + sizeof crc;
    return status;
}

/* draws.gess does not exist; but its run may, if it has not sampled yet. */
static int no_draws(const char *path, gess_error *err)
{
    static const char draws[] = "draws.gess";
    size_t length = strlen(path), name = sizeof draws - 1;
    char config[4096], quoted[4096];
    if (length > name && path[length - name - 1] == '/' && strcmp(path + length - name, draws) == 0) {
        int folder = (int)(length - name - 1);
        snprintf(config, sizeof config, "%.*s/config.json", folder, path);
        bool begun = access(config, F_OK) == 0;
        snprintf(config, sizeof config, "%.*s", folder, path);
        if (begun)
            return gess__fail(err, GESS_ERR_FILE, "the run in %s has no draws yet; continue it with `gess resume %s`",
                              config, gess__shell_quote(config, quoted, sizeof quoted));
    }
    return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(ENOENT));
}

int gess__draws_file_open(gess__draws_file *f, const char *path, gess_error *err)
{
    struct stat information;
    GESS_ASSERT(path != NULL);
    *f = (gess__draws_file){.file = -1};
    GESS_TRY(gess__copy_text(&f->path, path, err));
    f->file = open(path, O_RDONLY | O_CLOEXEC);
    if (f->file < 0 && errno == ENOENT) return no_draws(path, err);
    if (f->file < 0 || fstat(f->file, &information) != 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(information.st_mode)) return not_draws(f, err);
    f->size = (uint64_t)information.st_size;
    return read_header(f, err);
}

void gess__draws_file_close(gess__draws_file *f)
{
    for (size_t i = 0; i < f->columns; i++) free(f->names[i]);
    if (f->file >= 0) close(f->file);
    free(f->names);
    free(f->path);
    *f = (gess__draws_file){.file = -1};
}

/* ---- blocks ---- */

int gess__draws_file_block(const gess__draws_file *f, uint64_t at, gess__block_header *h, uint64_t *bytes,
                           gess_error *err)
{
    GESS_TRY(gess__draws_file_read(f, at, h, sizeof *h, err));
    uint64_t rows = (f->size - at - sizeof *h) / (f->columns * sizeof(double)); /* that the rest has room for */
    if (h->magic != GESS__BLOCK_MAGIC || h->chains < 1 || h->chains > f->chains ||
        h->first_chain > f->chains - h->chains || h->draws < 1)
        return gess__draws_damaged(f, "block header", at, err);
    if (h->draws > rows || h->chains > rows / h->draws)
        return gess__fail(err, GESS_ERR_FILE, "%s ends in the middle of a block (that begins at byte %llu)", f->path,
                          (unsigned long long)at);
    *bytes = h->chains * h->draws * f->columns * sizeof(double);
    return GESS_OK;
}

int gess__draws_file_count(const gess__draws_file *f, uint64_t at, const gess__block_header *h, uint64_t *have,
                           gess_error *err)
{
    GESS_ASSERT(h->first_chain + h->chains <= f->chains);
    for (uint64_t c = h->first_chain; c < h->first_chain + h->chains; c++) {
        if (have[c] != h->first_draw) return gess__draws_damaged(f, "draws out of order", at, err);
        have[c] += h->draws;
    }
    return GESS_OK;
}

int gess__draws_file_check_chains(const gess__draws_file *f, gess_error *err)
{
    /* every chain has draws in some block, or there is no block at all */
    uint64_t bytes = f->size - f->blocks_at;
    if (bytes == 0 || f->chains <= bytes / sizeof(double)) return GESS_OK;
    return gess__draws_damaged(f, "number of chains", f->blocks_at, err);
}
