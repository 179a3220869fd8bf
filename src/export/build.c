/* The version that a library of an exporter was built with. This file is a part of libgess and of every such library;
 * registry.c compares the two. */
#include "export/registry.h"

const char gess__export_build[] = GESS_VERSION_TEXT;
