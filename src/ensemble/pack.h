/* The draws of a warm-up window, as its fits want them. */
#ifndef GESS_ENSEMBLE_PACK_H
#define GESS_ENSEMBLE_PACK_H

#include "ensemble/ensemble.h"

/* The window's points with those of the first half of the chains first, each half draw by draw. */
gess__pool gess__pack(gess__ensemble *e);

#endif
