/* Deutsch (1996), RFC 1951, with the fixed Huffman codes and matches found by a hash of three bytes. Pictures and page
 * descriptions repeat themselves so much that better codes would gain little. */
#include "plot/deflate.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HASHES = 1 << 15, WINDOW = 1 << 15, TRIES = 16, LONGEST = 258, SHORTEST = 3 };

typedef struct coder {
    unsigned char *out;
    size_t size, room;
    uint64_t bits;
    unsigned count;
    int status;
    gess_error *err;
} coder;

static void put_byte(coder *c, unsigned char byte)
{
    if (c->size == c->room && c->status == GESS_OK) {
        size_t room = c->room + c->room / 2 + 4096;
        unsigned char *bigger = realloc(c->out, room);
        if (bigger == NULL) {
            c->status = gess__fail(c->err, GESS_ERR_INTERNAL, "out of memory while compressing");
            return;
        }
        c->out = bigger;
        c->room = room;
    }
    if (c->status == GESS_OK) c->out[c->size++] = byte;
}

/* The lowest bit first. */
static void put_bits(coder *c, unsigned value, unsigned count)
{
    c->bits |= (uint64_t)value << c->count;
    for (c->count += count; c->count >= 8; c->count -= 8) {
        put_byte(c, (unsigned char)(c->bits & 0xff));
        c->bits >>= 8;
    }
}

/* A Huffman code: the highest bit first. */
static void put_code(coder *c, unsigned code, unsigned count)
{
    unsigned turned = 0;
    for (unsigned i = 0; i < count; i++) turned |= (code >> i & 1u) << (count - 1 - i);
    put_bits(c, turned, count);
}

static void put_symbol(coder *c, unsigned s)
{
    if (s < 144)
        put_code(c, 0x30 + s, 8);
    else if (s < 256)
        put_code(c, 0x190 + s - 144, 9);
    else if (s < 280)
        put_code(c, s - 256, 7);
    else
        put_code(c, 0xc0 + s - 280, 8);
}

static void put_match(coder *c, unsigned length, unsigned distance)
{
    static const unsigned short lengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                               31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const unsigned char length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                  2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    unsigned i = 28;
    while (lengths[i] > length) i--;
    put_symbol(c, 257 + i);
    put_bits(c, length - lengths[i], length_bits[i]);
    unsigned code = 0, base = 1, extra = 0; /* distances 1, 2, 3, 4, 5–6, 7–8, 9–12, … */
    for (; code < 29; code++) {
        extra = code < 4 ? 0 : code / 2 - 1;
        if (distance < base + (1u << extra)) break;
        base += 1u << extra;
    }
    extra = code < 4 ? 0 : code / 2 - 1;
    put_code(c, code, 5);
    put_bits(c, distance - base, extra);
}

static unsigned hash(const unsigned char *b)
{
    return ((unsigned)b[0] << 16 ^ (unsigned)b[1] << 8 ^ b[2]) * 2654435761u >> 17;
}

/* The longest match at `at`: its length, 0 for none. head and previous hold positions + 1. */
static unsigned find_match(const unsigned char *bytes, size_t size, size_t at, const size_t *head,
                           const size_t *previous, size_t *distance)
{
    unsigned best = 0, most = size - at < LONGEST ? (unsigned)(size - at) : LONGEST;
    if (most < SHORTEST) return 0;
    size_t from = head[hash(bytes + at)];
    for (int tries = 0; tries < TRIES && from > 0 && at - (from - 1) <= WINDOW; tries++) {
        unsigned length = 0;
        while (length < most && bytes[from - 1 + length] == bytes[at + length]) length++;
        if (length > best) {
            best = length;
            *distance = at - (from - 1);
        }
        if (best == most) break;
        size_t next = previous[(from - 1) % WINDOW];
        if (next >= from) break; /* overwritten */
        from = next;
    }
    return best >= SHORTEST ? best : 0;
}

static void encode(coder *c, const unsigned char *bytes, size_t size, size_t *head, size_t *previous)
{
    for (size_t at = 0; at < size;) {
        size_t distance = 0, step = find_match(bytes, size, at, head, previous, &distance);
        if (step > 0)
            put_match(c, (unsigned)step, (unsigned)distance);
        else
            put_symbol(c, bytes[at]);
        if (step == 0) step = 1;
        for (size_t i = at; i < at + step && i + SHORTEST <= size; i++) {
            unsigned h = hash(bytes + i);
            previous[i % WINDOW] = head[h];
            head[h] = i + 1;
        }
        at += step;
    }
}

static uint32_t adler32(const unsigned char *bytes, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

int gess__deflate(unsigned char **out, size_t *out_size, const unsigned char *bytes, size_t size, gess_error *err)
{
    size_t *tables = NULL;
    coder c = {.err = err};
    GESS_ALLOC(&tables, (size_t)HASHES + WINDOW, err);
    put_byte(&c, 0x78);
    put_byte(&c, 0x9c);
    put_bits(&c, 1, 1); /* the last block */
    put_bits(&c, 1, 2); /* fixed codes */
    encode(&c, bytes, size, tables, tables + HASHES);
    put_symbol(&c, 256);
    if (c.count > 0) put_bits(&c, 0, 8 - c.count);
    uint32_t sum = adler32(bytes, size);
    for (int shift = 24; shift >= 0; shift -= 8) put_byte(&c, (unsigned char)(sum >> shift & 0xff));
    free(tables);
    *out = c.out;
    *out_size = c.size;
    if (c.status == GESS_OK) return GESS_OK;
    free(c.out);
    *out = NULL;
    return c.status;
}
