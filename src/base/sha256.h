/* SHA-256 (FIPS 180-4) of a file, so that config.json can say which plug-in and which data a run used. */
#ifndef GESS_BASE_SHA256_H
#define GESS_BASE_SHA256_H

#include "base/status.h"

enum { GESS__SHA256_TEXT = 65 }; /* 64 hexadecimal digits and the end of the text */

/* Writes the digits that sha256sum(1) prints for the file. */
int gess__sha256_file(const char *path, char text[GESS__SHA256_TEXT], gess_error *err);

#endif
