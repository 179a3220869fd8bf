/* The draws of a warm-up window, as its fits want them. */
#ifndef GESS_ADAPT_WINDOW_H
#define GESS_ADAPT_WINDOW_H

#include "execute/ensemble.h"

/* The window's points with those of the first half of the chains first, each half draw by draw. */
gess__pool gess__window_pack(gess__ensemble *e);

#endif
