/* Writes a draws.gess by docs/file-formats.md, without code of the library, with blocks of any shape, for tests of
 * readers. */
#ifndef GESS_TESTS_READERS_DRAWS_FILE_H
#define GESS_TESTS_READERS_DRAWS_FILE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_bytes(FILE *file, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, file) != count) abort();
}

/* Writes the header; draws_file_append() adds blocks, then fclose(). */
static FILE *draws_file_new(const char *path, size_t chains, size_t columns, const char *const *names, uint64_t thin)
{
    FILE *file = fopen(path, "wb");
    json_t *list = json_array();
    for (size_t j = 0; j < columns; j++) json_array_append_new(list, json_string(names[j]));
    json_t *root =
        json_pack("{s:I, s:I, s:o}", "chains", (json_int_t)chains, "thin", (json_int_t)thin, "columns", list);
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    if (file == NULL || text == NULL) abort();
    uint32_t lengths[2] = {1, (uint32_t)strlen(text)};
    uLong crc = crc32_z(crc32_z(0, (const Bytef *)lengths, sizeof lengths), (const Bytef *)text, lengths[1]);
    put_bytes(file, "gessdraw", 8);
    put_bytes(file, lengths, sizeof lengths);
    put_bytes(file, text, lengths[1]);
    put_bytes(file, &(uint32_t){(uint32_t)crc}, 4);
    json_decref(root);
    free(text);
    return file;
}

/* rows[(chain · draws + draw) · columns] */
static void draws_file_append(FILE *file, size_t columns, size_t first_chain, size_t chains, uint64_t first_draw,
                              uint64_t draws, const double *rows)
{
    size_t bytes = chains * (size_t)draws * columns * sizeof *rows;
    uint64_t place[4] = {first_chain, chains, first_draw, draws};
    uLong crc = crc32_z(crc32_z(0, (const Bytef *)place, sizeof place), (const Bytef *)rows, bytes);
    put_bytes(file, "BLK1", 4);
    put_bytes(file, &(uint32_t){(uint32_t)crc}, 4);
    put_bytes(file, place, sizeof place);
    put_bytes(file, rows, bytes);
}

#endif
