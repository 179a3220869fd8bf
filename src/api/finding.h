/* A finding of a verdict as <gess/draws.h> shows it. */
#ifndef GESS_API_FINDING_H
#define GESS_API_FINDING_H

#include "report/verdict.h"

#include <gess/draws.h>

/* Fills the caller's struct of `size` bytes. (verdict.c) */
void gess__fill_finding(const gess__finding *from, gess_finding *to, size_t size);

#endif
