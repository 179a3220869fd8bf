/* Calls the CRC-32 of libdeflate, or of zlib if the build found no libdeflate. */
#include "base/checksum.h"

#if GESS_HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

uint32_t gess__crc32(uint32_t crc, const void *bytes, size_t count)
{
#if GESS_HAVE_LIBDEFLATE
    return libdeflate_crc32(crc, bytes, count);
#else
    return (uint32_t)crc32_z(crc, bytes, count);
#endif
}
