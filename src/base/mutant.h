/* Known bugs as compile-time switches, for the mutation gate (tests/mutation): a build with
 * -DGESS_MUTANT=name must fail the tests. A normal build has none, and the switch costs nothing. */
#ifndef GESS_BASE_MUTANT_H
#define GESS_BASE_MUTANT_H

enum gess__mutant {
#define GESS_MUTANT_ROW(name, value, what) GESS__MUTANT_##name = (value),
#include "base/mutants.def"
#undef GESS_MUTANT_ROW
    GESS__MUTANT_NONE = 0
};

#ifndef GESS_MUTANT
#define GESS_MUTANT NONE
#endif
#define GESS__MUTANT_JOIN(a, b) a##b
#define GESS__MUTANT_NAME(name) GESS__MUTANT_JOIN(GESS__MUTANT_, name)
#define GESS__MUTANT(name) (GESS__MUTANT_NAME(GESS_MUTANT) == GESS__MUTANT_##name)

#endif
