/* CRC-32 as zlib has it. Where libdeflate was found at build time it computes the same number several times
 * faster: on the cheapest models that is noticed. */
#ifndef GESS_BASE_CHECKSUM_H
#define GESS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from an earlier checksum; 0 to begin with. */
uint32_t gess__crc32(uint32_t crc, const void *bytes, size_t count);

#endif
