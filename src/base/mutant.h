/* Known bugs as switches, for the mutation gate (tests/mutation): programs built with -DGESS_MUTANTS have the one that
 * the environment variable GESS_MUTANT names, and must fail. A normal build has none, and the switch costs nothing. */
#ifndef GESS_BASE_MUTANT_H
#define GESS_BASE_MUTANT_H

enum gess__mutant {
#define GESS_MUTANT_ROW(name, value, where, what) GESS__MUTANT_##name = (value),
#include "base/mutants.def"
#undef GESS_MUTANT_ROW
    GESS__MUTANT_NONE = 0
};

#ifdef GESS_MUTANTS
extern int gess__mutant; /* tests/mutation/mutant.c */
#define GESS__MUTANT(name) (gess__mutant == GESS__MUTANT_##name)
#else
#define GESS__MUTANT(name) 0
#endif

#endif
