/* Models in shared objects: what their loaders, one file and one row of loaders.def each, have in common. */
#ifndef GESS_MODEL_SHARED_OBJECT_H
#define GESS_MODEL_SHARED_OBJECT_H

#include "model/model.h"

/* Opens the model in a library that is loaded and has the loader's symbol. `data`: the file of --data, or NULL. */
typedef int gess__loader_fn(gess__model *m, void *library, const char *path, const char *data, gess_error *err);

#define GESS_LOADER(identifier, symbol) gess__loader_fn gess__open_##identifier;
#include "model/loaders.def"
#undef GESS_LOADER

/* Fails if the file of --data cannot be read. */
int gess__shared_object_data(const char *path, const char *data /* or NULL */, gess_error *err);

#endif
