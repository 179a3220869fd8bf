/* Collects draws into full blocks, writes them on a thread in the background, and cuts partial blocks off before it
 * appends. A checkpoint syncs the file and archives the position. */
#include "draws/writer.h"

#include "base/assert.h"
#include "base/checksum.h"
#include "base/folder.h"
#include "base/mem.h"
#include "draws/format.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The held draws of one group. */
typedef struct group {
    size_t first, chains;
    uint64_t base, have; /* first draw of the block, and how many draws of it are here */
    double *rows;        /* rows[(chain · unit + draw) · columns] */
} group;

struct gess__writer {
    FILE *file;
    char *path;
    size_t columns, groups, largest; /* largest: chains of the largest group */
    group *group;
    uint64_t unit;   /* draws per chain in a full block */
    uint64_t bytes;  /* of the header and the full blocks */
    int ragged;      /* partial blocks follow them in the file */
    uint64_t header; /* bytes of the header alone */
    int kept;        /* so do the draws from before a restart, which must stay for now */
    double *packed;  /* rows of a partial block */
    /* The thread that writes full blocks, so that sampling does not wait for checksums and the system. It starts
     * with the first full block, and has one block at a time. */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int threaded, quit;
    int busy; /* the thread has the block `sent`, with rows `sent_rows` */
    gess__block_header sent;
    double *sent_rows;
    int failed; /* status of the first write that failed; `failure` has its message */
    gess_error failure;
};

/* A full block has about this many doubles, or one draw per chain if that is more. */
enum { BLOCK_DOUBLES = 1 << 17 };

static int write_bytes(gess__writer *w, const void *bytes, size_t count, gess_error *err)
{
    if (fwrite(bytes, 1, count, w->file) == count) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", w->path, strerror(errno));
}

static int write_header(gess__writer *w, size_t chains, const gess__writer_columns *columns, uint64_t thin,
                        gess_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < w->columns; i++) {
        if (json_array_append_new(list, json_string(columns->names[i])) == 0) continue;
        json_decref(list);
        return gess__fail(err, GESS_ERR_MODEL, "the name of parameter %zu is not UTF-8; give it another", i);
    }
    json_t *root =
        json_pack("{s:I, s:I, s:o}", "chains", (json_int_t)chains, "thin", (json_int_t)thin, "columns", list);
    if (columns->hidden > 0) {
        json_object_set_new(root, "hidden", json_integer((json_int_t)columns->hidden));
        json_object_set_new(root, "parameters", json_integer((json_int_t)columns->parameters));
    }
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(root);
    if (text == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the header of %s", w->path);
    uint32_t lengths[2] = {GESS__DRAWS_VERSION, (uint32_t)strlen(text)};
    uint32_t crc = gess__crc32(gess__crc32(0, lengths, sizeof lengths), text, lengths[1]);
    int status = write_bytes(w, GESS__DRAWS_MAGIC, sizeof GESS__DRAWS_MAGIC - 1, err);
    if (status == GESS_OK) status = write_bytes(w, lengths, sizeof lengths, err);
    if (status == GESS_OK) status = write_bytes(w, text, lengths[1], err);
    if (status == GESS_OK) status = write_bytes(w, &crc, sizeof crc, err);
    free(text);
    return status;
}

static int make_writer(gess__writer **writer, int folder, const char *path, const char *mode, size_t chains,
                       size_t groups, const size_t *starts, size_t columns, gess_error *err)
{
    GESS_ALLOC(writer, 1, err);
    gess__writer *w = *writer;
    size_t largest = 0;
    GESS_ASSERT(chains > 0 && groups > 0 && columns > 0 && starts[0] == 0);
    w->columns = columns;
    GESS_TRY(gess__copy_text(&w->path, path, err));
    GESS_ALLOC(&w->group, groups, err);
    w->groups = groups;
    for (size_t g = 0; g < groups; g++) {
        w->group[g].first = starts[g];
        w->group[g].chains = (g + 1 < groups ? starts[g + 1] : chains) - starts[g];
        if (w->group[g].chains > largest) largest = w->group[g].chains;
    }
    w->largest = largest;
    size_t row = largest * columns;
    w->unit = row > 0 && row < BLOCK_DOUBLES ? BLOCK_DOUBLES / row : 1;
    for (size_t g = 0; g < groups; g++) GESS_ALLOC(&w->group[g].rows, largest * w->unit * columns, err);
    GESS_ALLOC(&w->packed, largest * w->unit * columns, err);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->file = gess__folder_stream(folder, path, mode);
    if (w->file == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    return GESS_OK;
}

int gess__writer_create(gess__writer **writer, int folder, const char *path, size_t chains, size_t groups,
                        const size_t *starts, const gess__writer_columns *columns, uint64_t thin, gess_error *err)
{
    GESS_TRY(make_writer(writer, folder, path, "wb", chains, groups, starts, columns->count, err));
    GESS_TRY(write_header(*writer, chains, columns, thin, err));
    off_t length = ftello((*writer)->file);
    if (length < 0) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    (*writer)->bytes = (*writer)->header = (uint64_t)length;
    return GESS_OK;
}

int gess__writer_new(gess__writer **writer, int folder, const char *path, size_t chains, size_t groups,
                     const size_t *starts, size_t columns, const char *const *names, uint64_t thin, gess_error *err)
{
    const gess__writer_columns all = {.count = columns, .names = names};
    return gess__writer_create(writer, folder, path, chains, groups, starts, &all, thin, err);
}

uint64_t gess__writer_unit(const gess__writer *w)
{
    return w->unit;
}

/* Sets the checksum and writes the block. */
static int write_block(gess__writer *w, gess__block_header *header, const double *rows, gess_error *err)
{
    size_t bytes = (size_t)(header->chains * header->draws) * w->columns * sizeof *rows;
    header->checksum = gess__crc32(gess__block_header_crc(header), rows, bytes);
    GESS_TRY(write_bytes(w, header, sizeof *header, err));
    return write_bytes(w, rows, bytes, err);
}

static gess__block_header header_of(const group *g, uint64_t draws)
{
    return (gess__block_header){.magic = GESS__BLOCK_MAGIC,
                                .first_chain = g->first,
                                .chains = g->chains,
                                .first_draw = g->base,
                                .draws = draws};
}

/* Asks the system to start writing to the disk, so that the sync of a checkpoint has little left to do. It is a hint:
 * nothing is lost if it fails or the system has no such call. */
static void start_writeback(gess__writer *w)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (fflush(w->file) == 0) (void)sync_file_range(fileno(w->file), 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)w;
#endif
}

/* The body of the thread. */
static void *write_sent_blocks(void *user)
{
    gess__writer *w = user;
    pthread_mutex_lock(&w->mutex);
    for (;;) {
        while (!w->busy && !w->quit) pthread_cond_wait(&w->changed, &w->mutex);
        if (!w->busy) break;
        pthread_mutex_unlock(&w->mutex);
        gess_error failure = {0};
        int status = w->failed != GESS_OK ? w->failed : write_block(w, &w->sent, w->sent_rows, &failure);
        start_writeback(w);
        pthread_mutex_lock(&w->mutex);
        if (status != GESS_OK && w->failed == GESS_OK) {
            w->failed = status;
            w->failure = failure;
        }
        w->busy = 0;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* Waits until the thread is idle. Returns the first failure of its writes, if any. */
static int wait_idle(gess__writer *w, gess_error *err)
{
    if (!w->threaded) return GESS_OK;
    pthread_mutex_lock(&w->mutex);
    while (w->busy) pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    if (w->failed != GESS_OK && err != NULL) *err = w->failure;
    return w->failed;
}

/* Hands the group's full block to the thread. The group gets the buffer of the block before it. */
static int send_block(gess__writer *w, group *g, gess_error *err)
{
    GESS_TRY(wait_idle(w, err));
    if (w->sent_rows == NULL) GESS_ALLOC(&w->sent_rows, w->largest * w->unit * w->columns, err);
    double *rows = g->rows;
    g->rows = w->sent_rows;
    w->sent_rows = rows;
    if (!w->threaded) {
        int code = pthread_create(&w->thread, NULL, write_sent_blocks, w);
        if (code != 0)
            return gess__fail(err, GESS_ERR_INTERNAL, "cannot start the thread that writes draws: %s", strerror(code));
        w->threaded = 1;
    }
    pthread_mutex_lock(&w->mutex);
    w->sent = header_of(g, w->unit);
    w->busy = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    return GESS_OK;
}

/* Cuts the partial blocks off the file. */
static int cut(gess__writer *w, gess_error *err)
{
    GESS_TRY(wait_idle(w, err));
    if (fflush(w->file) == 0 && ftruncate(fileno(w->file), (off_t)w->bytes) == 0 &&
        fseeko(w->file, (off_t)w->bytes, SEEK_SET) == 0) {
        w->ragged = 0;
        return GESS_OK;
    }
    return gess__fail(err, GESS_ERR_FILE, "cannot cut %s: %s", w->path, strerror(errno));
}

/* Draws from … from + take − 1 of `draws`, which fit into the block. */
static int append_part(gess__writer *w, group *g, size_t chains, uint64_t draws, uint64_t from, uint64_t take,
                       const double *rows, gess_error *err)
{
    size_t width = w->columns;
    for (size_t c = 0; c < chains; c++)
        memcpy(g->rows + (c * w->unit + g->have) * width, rows + (c * draws + from) * width,
               take * width * sizeof *rows);
    g->have += take;
    if (g->have < w->unit) return GESS_OK;
    GESS_TRY(send_block(w, g, err));
    w->bytes += sizeof(gess__block_header) + g->chains * (size_t)w->unit * width * sizeof *rows;
    g->base += w->unit;
    g->have = 0;
    return GESS_OK;
}

int gess__writer_append(gess__writer *w, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                        const double *rows, gess_error *err)
{
    group *g = NULL;
    GESS_ASSERT(draws == 0 || rows != NULL);
    for (size_t i = 0; i < w->groups; i++)
        if (w->group[i].first == first_chain && w->group[i].chains == chains) g = &w->group[i];
    if (g == NULL || g->base + g->have != first_draw)
        return gess__fail(err, GESS_ERR_INTERNAL, "%s: draws of chains %zu … out of order", w->path, first_chain + 1);
    if (w->ragged) GESS_TRY(cut(w, err));
    for (uint64_t from = 0; from < draws;) {
        uint64_t take = draws - from < w->unit - g->have ? draws - from : w->unit - g->have;
        GESS_TRY(append_part(w, g, chains, draws, from, take, rows, err));
        from += take;
    }
    return GESS_OK;
}

int gess__writer_restart(gess__writer *w, gess_error *err)
{
    GESS_TRY(wait_idle(w, err));
    for (size_t i = 0; i < w->groups; i++) w->group[i].base = w->group[i].have = 0;
    w->bytes = w->header;
    w->kept = 1;
    return GESS_OK;
}

int gess__writer_discard(gess__writer *w, gess_error *err)
{
    w->kept = 0;
    return cut(w, err);
}

int gess__writer_sync(gess__writer *w, gess_error *err)
{
    GESS_TRY(wait_idle(w, err));
    if (w->kept) return GESS_OK;
    if (w->ragged) GESS_TRY(cut(w, err));
    for (size_t i = 0; i < w->groups; i++) {
        const group *g = &w->group[i];
        size_t width = (size_t)g->have * w->columns;
        if (g->have == 0) continue;
        for (size_t c = 0; c < g->chains; c++)
            memcpy(w->packed + c * width, g->rows + c * w->unit * w->columns, width * sizeof *w->packed);
        gess__block_header header = header_of(g, g->have);
        GESS_TRY(write_block(w, &header, w->packed, err));
        w->ragged = 1;
    }
    if (fflush(w->file) == 0 && fsync(fileno(w->file)) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", w->path, strerror(errno));
}

int gess__writer_archive(gess__writer *w, gess__archive *a, gess_error *err)
{
    struct stat information;
    gess__archive_expect(a, w->unit);
    gess__archive_expect(a, w->groups);
    GESS_ARCHIVE(a, &w->bytes);
    GESS_ARCHIVE(a, &w->header);
    if (w->header > w->bytes) a->bad = 1;
    for (size_t i = 0; i < w->groups && !a->bad; i++) {
        group *g = &w->group[i];
        GESS_ARCHIVE(a, &g->base);
        GESS_ARCHIVE(a, &g->have);
        if (g->have >= w->unit) a->bad = 1;
        for (size_t c = 0; c < g->chains && !a->bad; c++)
            gess__archive_bytes(a, g->rows + c * w->unit * w->columns, (size_t)g->have * w->columns * sizeof *g->rows);
    }
    if (!a->reading || a->bad) return GESS_OK;
    if (fstat(fileno(w->file), &information) != 0 || (uint64_t)information.st_size < w->bytes)
        return gess__fail(err, GESS_ERR_FILE,
                          "%s has fewer bytes than when the checkpoint was made, so the run cannot go on", w->path);
    return cut(w, err);
}

void gess__writer_free(gess__writer *w)
{
    if (w == NULL) return;
    if (w->threaded) {
        pthread_mutex_lock(&w->mutex);
        w->quit = 1;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->mutex);
        pthread_join(w->thread, NULL);
    }
    free(w->sent_rows);
    if (w->file != NULL) fclose(w->file);
    for (size_t i = 0; i < w->groups; i++) free(w->group[i].rows);
    free(w->group);
    free(w->packed);
    free(w->path);
    free(w);
}

/* Refuses a file of another run. */
static int check_shape(const char *path, size_t chains, size_t columns, gess_error *err)
{
    gess__draws_file file;
    int status = gess__draws_file_open(&file, path, err);
    if (status == GESS_OK && (file.chains != chains || file.columns != columns))
        status =
            gess__fail(err, GESS_ERR_FILE, "%s belongs to another run: %zu chains and %zu columns, not %zu and %zu",
                       path, file.chains, file.columns, chains, columns);
    gess__draws_file_close(&file);
    return status;
}

int gess__writer_reopen(gess__writer **writer, int folder, const char *path, size_t chains, size_t groups,
                        const size_t *starts, size_t columns, gess_error *err)
{
    *writer = NULL;
    GESS_TRY(check_shape(path, chains, columns, err));
    return make_writer(writer, folder, path, "r+b", chains, groups, starts, columns, err);
}

int gess__writer_descriptor(const gess__writer *writer)
{
    return fileno(writer->file);
}
