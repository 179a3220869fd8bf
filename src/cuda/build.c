/* The version that libgess_cuda was built with; lane/open.c compares it with that of libgess. */
#include "lane/cuda.h"

const char gess__cuda_build[] = GESS_VERSION_TEXT;
