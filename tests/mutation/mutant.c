/* The bug that GESS_MUTANT names, chosen before main() runs. */
#include "base/mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gess__mutant;

__attribute__((constructor)) static void choose(void)
{
    static const struct {
        const char *name;
        int number;
    } rows[] = {
#define GESS_MUTANT_ROW(name, value, where, what) {#name, value},
#include "base/mutants.def"
#undef GESS_MUTANT_ROW
    };
    const char *wanted = getenv("GESS_MUTANT");
    for (size_t i = 0; wanted != NULL && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, wanted) == 0) gess__mutant = rows[i].number;
    if (gess__mutant != GESS__MUTANT_NONE) return;
    fprintf(stderr, "GESS_MUTANT must name a row of mutants.def\n");
    exit(2);
}
