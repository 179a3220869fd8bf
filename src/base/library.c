/* Searches the places of gess's own shared libraries and loads the first one found. */
#include "base/library.h"

#include "base/assert.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    else
        path[0] = '\0';
}

/* The folder of the shared library, or of the program, that this code is a part of; "" if it is not known. */
static void find_own_folder(char *folder, size_t size)
{
    static const char anchor; /* any address in libgess */
    Dl_info information;
    folder[0] = '\0';
    if (dladdr(&anchor, &information) == 0 || information.dli_fname == NULL) return;
    snprintf(folder, size, "%s", information.dli_fname);
    cut_to_folder(folder);
}

void gess__program_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    cut_to_folder(folder);
}

static void keep_reason(gess__library *library)
{
    const char *reason = dlerror();
    snprintf(library->why, sizeof library->why, "%s", reason != NULL ? reason : "the linker does not say why");
}

bool gess__library_open(gess__library *library, const char *file, bool global)
{
    /* the folder of libgess and the one of exporters below it, then those that the program gives */
    enum { OWN = 2, PLACES = 7, FOLDER = 2048 };
    static const char *const below[PLACES] =
        {"", "/gess", "", "/../lib", "/../" GESS_LIBDIR, "/../lib/gess", "/../" GESS_LIBDIR "/gess"};
    char own[FOLDER], program[FOLDER], path[4096], failed[4096] = "";
    int flags = RTLD_NOW | RTLD_NODELETE | (global ? RTLD_GLOBAL : RTLD_LOCAL);
    GESS_ASSERT(file != NULL && strchr(file, '/') == NULL);
    *library = (gess__library){0};
    find_own_folder(own, sizeof own);
    gess__program_folder(program, sizeof program);
    for (size_t i = 0; i < PLACES; i++) {
        const char *folder = i < OWN ? own : program;
        if (folder[0] == '\0') continue;
        snprintf(path, sizeof path, "%s%s/%s", folder, below[i], file);
        if (access(path, R_OK) != 0) continue;
        library->handle = dlopen(path, flags);
        if (library->handle != NULL) break;
        if (failed[0] != '\0') continue;
        keep_reason(library);
        memcpy(failed, path, sizeof failed);
    }
    if (library->handle == NULL) {
        snprintf(path, sizeof path, "%s", file);
        library->handle = dlopen(file, flags);
    }
    memcpy(library->path, library->handle != NULL ? path : failed, sizeof library->path);
    if (library->handle == NULL && failed[0] == '\0') keep_reason(library);
    return library->handle != NULL;
}

void *gess__library_symbol(const gess__library *library, const char *name)
{
    GESS_ASSERT(library->handle != NULL);
    return dlsym(library->handle, name);
}
