/* Helpers of the fuzzing harnesses. */
#ifndef GESS_FUZZ_H
#define GESS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A scratch folder of this process, in $TMPDIR, which run.sh removes. */
static inline void fuzz_folder(char folder[64])
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, 64, "%s/gess-fuzz-XXXXXX", base != NULL ? base : ".");
    if (mkdtemp(folder) == NULL) abort();
}

/* Writes the input to a file. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char folder[64], path[128];
    if (folder[0] == '\0') {
        fuzz_folder(folder);
        snprintf(path, sizeof path, "%s/input", folder);
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL || (size > 0 && fwrite(data, 1, size, file) != size) || fclose(file) != 0) abort();
    return path;
}

#endif
