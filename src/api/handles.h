/* The handles of <gess/draws.h> that more than one file of this folder uses. */
#ifndef GESS_API_HANDLES_H
#define GESS_API_HANDLES_H

#include "report/summary.h"

#include <gess/draws.h>

struct gess_summary {
    gess__summary figures;
    bool selected; /* settings.variables left columns out */
};

#endif
