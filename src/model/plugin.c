/* Loads models from shared objects. The contract is in <gess/gess.h>, under "a density in a shared object".
 *
 * A shared object stays loaded after its model is closed: threads and exit handlers of the object, or of a run-time
 * library it uses (OpenMP, Fortran's), could still run its code. So a process sees one version of a file, however often
 * it is opened. */
#include "base/mem.h"
#include "model/model.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct plugin {
    gess_plugin_open_fn *open;
    gess_plugin_close_fn *close; /* or NULL */
    gess_density opened;         /* as `open` left it, for `close` */
} plugin;

/* The result of dlsym(), with its type. */
typedef union symbol {
    void *address;
    const unsigned *abi;
    gess_plugin_open_fn *open;
    gess_plugin_close_fn *close;
} symbol;

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

static int load(plugin *p, const char *path, gess_error *err)
{
    GESS_TRY(check_file(path, err));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return gess__fail(err, GESS_ERR_MODEL, "cannot load the model %.300s: %.500s", path,
                          why != NULL ? why : "no reason given");
    }
    symbol abi = {dlsym(library, "gess_plugin_abi")};
    symbol open = {dlsym(library, "gess_plugin_open")};
    symbol close = {dlsym(library, "gess_plugin_close")};
    if (abi.address == NULL || open.address == NULL)
        return gess__fail(err, GESS_ERR_MODEL,
                          "%.500s is not a model for gess: it has no symbol %s (in C++, declare it extern \"C\"); "
                          "`gess new NAME` writes a model to start from",
                          path, abi.address == NULL ? "gess_plugin_abi" : "gess_plugin_open");
    if (*abi.abi != GESS_ABI)
        return gess__fail(err, GESS_ERR_MODEL,
                          "the model %.500s was built for interface version %u, this gess has %u; rebuild it", path,
                          *abi.abi, GESS_ABI);
    p->open = open.open;
    p->close = close.close;
    return GESS_OK;
}

static int check_data(const char *path, const char *data, gess_error *err)
{
    if (data == NULL || access(data, R_OK) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL, "cannot read --data %.400s for the model %.400s: %s", data, path,
                      strerror(errno));
}

static void close_plugin(gess__model *m)
{
    plugin *p = m->loaded;
    if (p->close != NULL) p->close(&p->opened);
}

int gess__plugin_open(gess__model *m, const char *path, const char *data, gess_error *err)
{
    plugin *p = NULL;
    GESS_MODEL_ALLOC(m, &p, 1, err);
    GESS_TRY(load(p, path, err));
    GESS_TRY(check_data(path, data, err));

    char message[600] = "";
    p->opened.size = sizeof p->opened;
    int code = p->open(data, &p->opened, message, sizeof message);
    message[sizeof message - 1] = '\0';
    if (code != 0 && message[0] == '\0')
        return gess__fail(err, GESS_ERR_MODEL, "the model %.500s did not open: it returned %d, without a message", path,
                          code);
    if (code != 0) return gess__fail(err, GESS_ERR_MODEL, "the model %.300s did not open: %s", path, message);
    m->loaded = p;
    m->close = close_plugin;
    int status = gess__model_copy_density(m, &p->opened, err);
    if (status == GESS_OK) status = gess__model_check(&m->model, err);
    return status == GESS_OK ? GESS_OK : gess__blame(err, status, "%.400s", path);
}
