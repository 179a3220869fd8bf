/* The name of the instruction set that vector code is chosen for, for --version and config.json. */
#ifndef GESS_BASE_CPU_H
#define GESS_BASE_CPU_H

const char *gess__cpu_name(void);

#endif
