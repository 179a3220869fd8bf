/* Compresses bytes as zlib does (RFC 1950, RFC 1951), for PNG and PDF: with one set of codes, and the same bytes on
 * every system. */
#ifndef GESS_PLOT_DEFLATE_H
#define GESS_PLOT_DEFLATE_H

#include "base/status.h"

#include <stddef.h>

/* *out: the compressed bytes, which the caller frees. */
int gess__deflate(unsigned char **out, size_t *out_size, const unsigned char *bytes, size_t size, gess_error *err);

#endif
