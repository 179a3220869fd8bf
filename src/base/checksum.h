/* CRC-32, with zlib's polynomial. If libdeflate was found at build time, it computes the same number several times
 * faster, which shows on the cheapest models. */
#ifndef GESS_BASE_CHECKSUM_H
#define GESS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Continues from an earlier checksum; begin with 0. */
uint32_t gess__crc32(uint32_t crc, const void *bytes, size_t count);

#endif
