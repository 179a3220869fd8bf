/* The loader of plug-ins: shared objects that were written for gess. The contract is in <gess/gess.h>, under "a density
 * in a shared object". */
#include "model/shared_object.h"

#include <dlfcn.h>

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

static int find_symbols(plugin *p, void *library, const char *path, gess_error *err)
{
    symbol abi = {dlsym(library, "gess_plugin_abi")};
    symbol open = {dlsym(library, "gess_plugin_open")};
    symbol close = {dlsym(library, "gess_plugin_close")};
    if (abi.address == NULL && dlsym(library, "bs_construct") != NULL)
        return gess__fail(err, GESS_ERR_MODEL,
                          "the Stan model %.500s was built by BridgeStan 1, whose interface is another; build it with "
                          "BridgeStan 2 or later",
                          path);
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

static void close_plugin(gess__model *m)
{
    plugin *p = m->loaded;
    if (p->close != NULL) p->close(&p->opened);
}

int gess__open_plugin(gess__model *m, void *library, const char *path, const char *data, gess_error *err)
{
    plugin *p = NULL;
    GESS_MODEL_ALLOC(m, &p, 1, err);
    GESS_TRY(find_symbols(p, library, path, err));
    GESS_TRY(gess__shared_object_data(path, data, err));

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
