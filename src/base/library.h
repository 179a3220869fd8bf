/* Finds and loads shared libraries that belong to gess: they are beside libgess or the program, in the library folder
 * of the program's installation, or in the linker's path. */
#ifndef GESS_BASE_LIBRARY_H
#define GESS_BASE_LIBRARY_H

#include "base/status.h"

typedef struct gess__library {
    void *handle;
    char path[4096]; /* of the file that was loaded, or could not be; "": there is no such file */
    char why[512];   /* it could not be loaded; the linker's words */
} gess__library;

/* Loads `file`, such as "libgess_hdf5.so". `global`: its symbols are seen by libraries that are loaded later. A library
 * stays loaded until the process ends. Returns false if it cannot be loaded. */
bool gess__library_open(gess__library *library, const char *file, bool global);

/* The address of a symbol; NULL if the library has none of that name. */
void *gess__library_symbol(const gess__library *library, const char *name);

/* The folder of the running program; "" if it is not known. */
void gess__program_folder(char *folder, size_t size);

#endif
