/* The commands of `gess`, one file and one row of commands.def each, and what they share. */
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
    int newcomer;          /* `gess` without arguments shows it */
    int (*run)(int argc, char **argv, gess_error *err);
} command;

#define COMMAND(identifier, arguments, newcomer, help) int command_##identifier(int argc, char **argv, gess_error *err);
#include "commands.def"
#undef COMMAND

/* Row i, NULL past the end. */
const command *command_row(size_t i);

/* Parses with argp under the name "gess NAME". A usage error prints a message and exits with 1. */
int parse_arguments(const struct argp *argp, int argc, char **argv, void *input);

/* For argp parsers of commands with one argument: stores it in *one, or prints a usage error, `ask` if there is none.
 * Any other key: ARGP_ERR_UNKNOWN. */
error_t take_one(int key, char *argument, struct argp_state *state, const char **one, const char *ask);

/* What take_one() asks for most often. */
#define WHICH_RUN "which run? give its directory"

/* Prints a usage error with argp's "Try … --help" line and exits with 1. */
#define USAGE(state, ...) argp_error((state), __VA_ARGS__)

/* Prints JSON and a newline to stdout. Takes the reference. */
int print_json(json_t *root, gess_error *err);

/* Flushes standard output; every command that prints ends with it, so that a full disk or a closed pipe is an error. */
int finish_output(gess_error *err);

/* session.c: runs to the end with progress, signals and the summary, for `sample` and `resume`. */
int run_and_report(gess_run *run, const gess_options *options, int quiet, gess_error *err);

/* Prints nans.csv of a run directory, if there is one. */
void print_nans(const char *directory);

/* Prints the names of the exporters in this build, each after a blank. */
void print_exporters(FILE *out);

/* The whole manual page, in man(7); `gess manual`. */
int print_manual(FILE *out);

/* Columns of the terminal on standard output; 0: it is not a terminal. */
size_t table_width(void);

#endif
