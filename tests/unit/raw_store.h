/* Writes draws files block by block, as in docs/file-formats.md, with any rectangles in any order, for tests of the
 * readers. A value encodes its chain, draw and column. */
#ifndef GESS_TESTS_RAW_STORE_H
#define GESS_TESTS_RAW_STORE_H

#include "base/folder.h"
#include "draws/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static inline double raw_value(uint64_t chain, uint64_t draw, size_t column)
{
    return (double)chain * 1e6 + (double)draw + 0.25 * (double)column;
}

/* The rows of a rectangle; the caller frees them. */
static inline double *raw_rows(size_t columns, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws)
{
    double *rows = malloc(chains * draws * columns * sizeof *rows + 1);
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t j = 0; j < columns; j++)
                rows[(c * draws + i) * columns + j] = raw_value(first_chain + c, first_draw + i, j);
    return rows;
}

/* Writes a file with a header and no draws. Returns 0 if that worked. */
static inline int raw_new(const char *path, size_t chains, size_t columns, const char *const *names, uint64_t thin)
{
    const size_t one_group[] = {0};
    gess__writer *writer = NULL;
    int status = gess__writer_new(&writer, GESS__NO_FOLDER, path, chains, 1, one_group, columns, names, thin, NULL);
    if (status == GESS_OK) status = gess__writer_sync(writer, NULL);
    gess__writer_free(writer);
    return status;
}

/* Appends a block. Returns 0 if that worked. */
static inline int raw_append(const char *path, size_t columns, size_t first_chain, size_t chains, uint64_t first_draw,
                             uint64_t draws)
{
    uint64_t fields[4] = {first_chain, chains, first_draw, draws};
    size_t count = chains * (size_t)draws * columns * sizeof(double);
    double *rows = raw_rows(columns, first_chain, chains, first_draw, draws);
    uint32_t crc = (uint32_t)crc32_z(crc32_z(0, (const Bytef *)fields, sizeof fields), (const Bytef *)rows, count);
    FILE *file = fopen(path, "ab");
    int bad = file == NULL || fwrite("BLK1", 1, 4, file) != 4 || fwrite(&crc, sizeof crc, 1, file) != 1 ||
              fwrite(fields, sizeof fields, 1, file) != 1 || fwrite(rows, 1, count, file) != count;
    if (file != NULL && fclose(file) != 0) bad = 1;
    free(rows);
    return bad;
}

#endif
