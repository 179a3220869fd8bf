/* Says which vector instructions the processor has. */
#ifndef GESS_BASE_CPU_H
#define GESS_BASE_CPU_H

/* AVX2 with FMA, and AVX-512: the levels v3 and v4 of x86-64. */
typedef enum gess__vectors { GESS__NO_VECTORS, GESS__NARROW_VECTORS, GESS__WIDEST_VECTORS } gess__vectors;

/* The best of this machine that the build may use. Set when the library is loaded; until then GESS__NO_VECTORS, whose
 * bits are the same. */
#ifndef __CUDACC__
extern gess__vectors gess__machine_vectors;
#endif

const char *gess__cpu_name(void);

#endif
