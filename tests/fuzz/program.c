/* What a program (exec:) writes: its greeting, and its answers as text and as doubles, in pieces of any size. The
 * answer must not depend on how it is cut up. */
#include "fuzz.h"

#include "model/exec.h"

enum { POINTS = 5 };

static gess__exec_reader read_answer(const uint8_t *data, size_t size, size_t piece, bool binary, double *values,
                                     locale_t c_locale, enum gess__program_more *more)
{
    gess__exec_reader r = {.binary = binary, .n = POINTS, .values = values, .c_locale = c_locale};
    *more = GESS__PROGRAM_MORE;
    for (size_t at = 0; at < size && *more == GESS__PROGRAM_MORE; at += piece)
        *more = gess__exec_take(&r, (const char *)data + at, size - at < piece ? size - at : piece);
    return r;
}

static void read_greeting(const uint8_t *data, size_t size, size_t piece)
{
    gess__exec_greeting g = {0};
    enum gess__program_more more = GESS__PROGRAM_MORE;
    for (size_t at = 0; at < size && more == GESS__PROGRAM_MORE; at += piece)
        more = gess__exec_take_greeting(&g, (const char *)data + at, size - at < piece ? size - at : piece);
    if (more == GESS__PROGRAM_ENOUGH) {
        gess__model m = {0};
        gess_error err = {0};
        char cause[GESS__EXEC_CAUSE] = "";
        bool binary = false;
        int status = gess__exec_parse_greeting(&m, g.text, &binary, cause, &err);
        if (status != GESS_OK && cause[0] == '\0' && err.text[0] == '\0') abort();
        if (status == GESS_OK) {
            m.model.logp = (gess_logp_fn *)abort;
            gess__model_check(&m.model, &err);
        }
        for (size_t i = 0; i < m.memory_count; i++) free(m.memory[i]);
    }
    free(g.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static locale_t c_locale;
    if (c_locale == (locale_t)0) c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (size < 2) return 0;
    size_t piece = 1 + data[0] % 16;
    bool binary = data[1] & 1;
    data += 2;
    size -= 2;
    read_greeting(data, size, piece);
    double whole[POINTS] = {0}, cut[POINTS] = {0};
    enum gess__program_more more, other;
    gess__exec_reader a = read_answer(data, size, size + 1, binary, whole, c_locale, &more);
    gess__exec_reader b = read_answer(data, size, piece, binary, cut, c_locale, &other);
    if (more == GESS__PROGRAM_WRONG && (a.cause[0] == '\0' || a.bad >= POINTS)) abort();
    if (other == GESS__PROGRAM_WRONG && (b.cause[0] == '\0' || b.bad >= POINTS)) abort();
    /* cut up, what comes after a complete answer has not been seen yet */
    if (more == GESS__PROGRAM_ENOUGH && (other != more || memcmp(whole, cut, sizeof whole) != 0)) abort();
    if (more == GESS__PROGRAM_MORE && other != more) abort();
    return 0;
}
