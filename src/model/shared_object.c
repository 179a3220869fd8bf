/* Loads a shared object, and hands it to the loader of its kind: the rows of loaders.def, told apart by their symbols.
 *
 * A shared object stays loaded after its model is closed: threads and exit handlers of the object, or of a run-time
 * library it uses (OpenMP, Fortran's, Stan's), could still run its code. So a process sees one version of a file,
 * however often it is opened. */
#include "model/shared_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct loader {
    const char *symbol;
    gess__loader_fn *open;
} loader;

static const loader loaders[] = {
#define GESS_LOADER(identifier, symbol) {symbol, gess__open_##identifier},
#include "model/loaders.def"
#undef GESS_LOADER
};

enum { LOADERS = sizeof loaders / sizeof *loaders };

/* Whether a shared object has all the bytes that the loader will map. The loader does not check this: a file that was
 * cut short, for instance by an interrupted copy, would kill the process with a bus error. The loader reports every
 * other fault. */
static bool is_whole(const char *path, off_t size)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) part;
    bool whole = true;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return true;
    if (fread(&header, sizeof header, 1, file) == 1 && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_phentsize == sizeof part && header.e_phoff <= (uint64_t)size &&
        fseeko(file, (off_t)header.e_phoff, SEEK_SET) == 0)
        for (unsigned i = 0; i < header.e_phnum && whole; i++)
            whole = fread(&part, sizeof part, 1, file) == 1 &&
                    (part.p_type != PT_LOAD ||
                     (part.p_filesz <= (uint64_t)size && part.p_offset <= (uint64_t)size - part.p_filesz));
    fclose(file);
    return whole;
}

static int check_file(const char *path, gess_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return gess__fail(err, GESS_ERR_MODEL, "cannot open the model %.500s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return gess__fail(err, GESS_ERR_MODEL, "the model %.500s is %s, not a shared object; name the .so file itself",
                          path, S_ISDIR(about.st_mode) ? "a folder" : "not a file");
    if (access(path, R_OK) != 0)
        return gess__fail(err, GESS_ERR_MODEL, "cannot read the model %.500s: %s", path, strerror(errno));
    if (!is_whole(path, about.st_size))
        return gess__fail(err, GESS_ERR_MODEL, "the model %.500s is cut short; build or copy it again", path);
    return GESS_OK;
}

int gess__shared_object_data(const char *path, const char *data, gess_error *err)
{
    if (data == NULL || access(data, R_OK) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL, "cannot read --data %.400s for the model %.400s: %s", data, path,
                      strerror(errno));
}

int gess__shared_object_open(gess__model *m, const char *path, const char *data, gess_error *err)
{
    GESS_TRY(check_file(path, err));
    fenv_t arithmetic;
    fegetenv(&arithmetic);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return gess__fail(err, GESS_ERR_MODEL, "cannot load the model %.300s: %.500s", path,
                          why != NULL ? why : "no reason given");
    }
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t kind = 0;
    while (kind < LOADERS && dlsym(library, loaders[kind].symbol) == NULL) kind++;
    int status = loaders[kind < LOADERS ? kind : 0].open(m, library, path, data, err);
    /* An object that was built with -ffast-math makes the thread that loads it, and the threads that this one starts,
     * round numbers below DBL_MIN to 0. That is the object's choice for itself, not for the sampler. */
    fesetenv(&arithmetic);
    /* nor is its working directory that of the paths that follow */
    if (folder >= 0 && fchdir(folder) != 0 && status == GESS_OK)
        status = gess__fail(err, GESS_ERR_FILE, "cannot return to the working directory: %s", strerror(errno));
    if (folder >= 0) close(folder);
    return status;
}
