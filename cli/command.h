/* The commands of `gess`: one file and one row of commands.def each. */
#ifndef GESS_CLI_COMMAND_H
#define GESS_CLI_COMMAND_H

#include "base/status.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>

typedef struct command {
    const char *name;
    const char *arguments; /* synopsis after the name */
    const char *help;      /* one line */
    int newcomer;          /* shown by `gess` alone */
    int (*run)(int argc, char **argv, gess_error *err);
} command;

#define COMMAND(identifier, arguments, newcomer, help) int command_##identifier(int argc, char **argv, gess_error *err);
#include "commands.def"
#undef COMMAND

/* Row i, NULL past the end. */
const command *command_row(size_t i);

/* Parses with argp under the name "gess NAME". A usage error prints a message and exits with 1. */
int parse_arguments(const struct argp *argp, int argc, char **argv, void *input);

/* Reports a usage error of the user's with argp's "Try … --help" line and exits with 1. */
#define USAGE(state, ...) argp_error((state), __VA_ARGS__)

/* Prints JSON and a newline to stdout. Takes the reference. */
int print_json(json_t *root, gess_error *err);

/* Ends every command that prints: a full disk or a closed pipe must not pass as success. */
int finish_output(gess_error *err);

/* Runs to the end with progress, signals and the summary, for `sample` and `resume`. */
int run_and_report(gess_run *run, const gess_options *options, int quiet, gess_error *err);

/* Shows the points at which the density was NaN, where the run directory has any. */
void print_nans(const char *directory);

/* The names of the exporters in this build, each after a blank. */
void print_exporters(FILE *out);

/* The whole manual page, in man(7); `gess manual`. */
int print_manual(FILE *out);

/* Columns of the terminal on standard output, for a table; 0: it is none. */
size_t table_width(void);

#endif
