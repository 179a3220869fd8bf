/* The readers of draws.gess, draws/draws.h (whole files) and draws/reader.h (rectangles), which must agree. If the
 * input begins like a good file, its checksums are corrected, so that the fuzzer gets past them. */
#include "fuzz.h"

#include "draws/draws.h"
#include "draws/reader.h"

#include <math.h>
#include <zlib.h>

static double sum;

static void add(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, const double *rows)
{
    (void)user, (void)first_chain, (void)first_draw;
    if (chains > 0 && draws > 0) sum += rows[0];
}

static void mend(uint8_t *bytes, size_t size)
{
    uint32_t length, crc;
    uint64_t shape[4];
    if (size < 20) return;
    memcpy(&length, bytes + 12, sizeof length);
    if (length > size - 20) return;
    crc = (uint32_t)crc32_z(0, bytes + 8, 8 + (size_t)length);
    memcpy(bytes + 16 + length, &crc, sizeof crc);
    size_t columns = 0; /* of a good header: a comma between two, and two more between its three entries */
    int list = 0;
    for (size_t i = 16; i < 16 + length; i++) {
        list = bytes[i] == '[' ? 1 : bytes[i] == ']' ? 0 : list;
        columns += list && (bytes[i] == '[' || bytes[i] == ',');
    }
    for (size_t at = 20 + length; columns > 0 && size - at > 40;) {
        memcpy(shape, bytes + at + 8, sizeof shape);
        size_t max_rows = (size - at - 40) / columns / 8;
        if (shape[1] == 0 || shape[3] == 0 || shape[3] > max_rows || shape[1] > max_rows / shape[3]) return;
        size_t rows = (size_t)(shape[1] * shape[3]) * columns * 8;
        crc = (uint32_t)crc32_z(0, bytes + at + 8, 32 + rows);
        memcpy(bytes + at + 4, &crc, sizeof crc);
        at += 40 + rows;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gess_error err = {0};
    gess__draws draws;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) return 0;
    memcpy(copy, data, size);
    mend(copy, size);
    const char *path = fuzz_file(copy, size);
    free(copy);
    int status = gess__draws_read(&draws, path, &err);
    if (status != GESS_OK && err.text[0] == '\0') abort();
    if (status == GESS_OK)
        for (size_t i = 0; i < draws.columns * draws.chains * draws.draws; i++) sum += draws.values[i];
    gess__reader *reader = NULL;
    int again = gess__reader_open(&reader, path, &err);
    if ((status == GESS_OK) != (again == GESS_OK) && draws.draws > 0) abort();
    if (again == GESS_OK && status == GESS_OK && draws.draws > 0) {
        double *rows = malloc(reader->columns * sizeof *rows);
        if (rows == NULL || reader->draws != draws.draws || reader->chains != draws.chains) abort();
        if (gess__reader_rows(reader, reader->chains - 1, 1, reader->draws - 1, 1, rows, &err) != GESS_OK) abort();
        for (size_t j = 0; j < draws.columns; j++)
            if (memcmp(&rows[j], &draws.values[(j * draws.chains + draws.chains - 1) * draws.draws + draws.draws - 1],
                       sizeof *rows) != 0)
                abort();
        free(rows);
    }
    gess__reader_free(reader);
    gess__draws_free(&draws);
    gess__draws_visit(path, add, NULL, &err);
    return isnan(sum) ? 0 : 0;
}
