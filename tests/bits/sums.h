/* Checksums of runs and of what needs no run. */
#ifndef GESS_TESTS_BITS_SUMS_H
#define GESS_TESTS_BITS_SUMS_H

#include <gess/draws.h>
#include <gess/gess.h>

/* Exits with the message unless status is GESS_OK. */
void check(int status, const char *name, const gess_error *err);

/* The files "starts.csv" and "approx.json" in the working folder, with decimals that are hard to round. */
void make_inputs(void);
void remove_inputs(void);

/* Prints the line of a run that is done. */
void print_sums(const char *name, gess_run *run, const char *directory, int evidence);

/* Prints lines NAME NUMBERS TEXT for the numbers of "starts.csv" and for fits, if wanted(NAME). */
void print_direct(int (*wanted)(const char *name, char **names), char **names);

#endif
