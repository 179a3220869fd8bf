/* The commands of `gess`, one file and one row of commands.def each, and what they share. */
#ifndef GESS_CLI_COMMAND_H
#define GESS_CLI_COMMAND_H

#include <argp.h>
#include <gess/draws.h>
#include <stdbool.h>
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

/* From now on parse_arguments() prints the long options that begin with `prefix`, a line each, and exits. */
void list_options(const char *prefix);

/* For argp parsers of commands with one argument: stores it in *one, or prints a usage error, `ask` if there is none.
 * Any other key: ARGP_ERR_UNKNOWN. */
error_t take_one(int key, char *argument, struct argp_state *state, const char **one, const char *ask);

/* What take_one() asks for most often. */
#define WHICH_RUN "which run? give its directory"

/* Prints a usage error with argp's "Try … --help" line and exits with 1. */
#define USAGE(state, ...) argp_error((state), __VA_ARGS__)

/* Evaluates a call that returns a status, and returns that status if it is not GESS_OK. */
#define TRY(call)                               \
    do {                                        \
        int status_ = (call);                   \
        if (status_ != GESS_OK) return status_; \
    } while (0)

/* Writes the message (truncated to fit) and returns `status`, for `return fail(...)`. */
int fail(gess_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Row i of a list of <gess/gess.h>; false past its end. */
bool list_row(int kind, size_t i, gess_entry *row);

/* Prints text of gess/draws.h to standard output and frees it. */
int print_text(char *text, gess_error *err);

/* Flushes standard output; every command that prints ends with it, so that a full disk or a closed pipe is an error. */
int finish_output(gess_error *err);

/* session.c: runs to the end with progress, signals and the summary, for `sample` and `resume`. */
int run_and_report(gess_run *run, const gess_options *options, const char *directory, int quiet, gess_error *err);

/* session.c: tells the supervising parent, if there is one, what will run. Before the model is opened. */
int begin_supervised(const char *model, gess_options *options, const char *directory, gess_error *err);

/* session.c: opens a model with the data file of the options. */
int open_model(gess_model **model, const char *specification, const gess_options *options, gess_error *err);

/* evidence.c: the options that `evidence` and `compare` have in common. Takes one of them; false if the key is none. */
struct evidence_arguments {
    int json, trusted;
    gess_evidence_settings settings;
};
bool take_evidence_option(int key, const char *argument, struct argp_state *state,
                          struct evidence_arguments *arguments);

/* Computes the evidence of a run, on all ranks; on those above 0 *evidence is NULL and *result is left alone. */
int open_evidence(gess_evidence **evidence, const char *directory, const struct evidence_arguments *arguments,
                  gess_evidence_result *result, gess_error *err);
#define EVIDENCE_OPTIONS                                                                                             \
    {"json", 'j', NULL, 0, "print JSON", 0},                                                                         \
        {"target-evidence-error", 'e', "E", 0, "go on until the standard error is E (default: 0.02)", 0},            \
        {"trust-model", 'T', NULL, 0, "run the plug-in of another user's run", 0},                                   \
        {"max-evals", 'm', "N", 0, "evaluations, at most (default: 5000; with a target, the run's --max-evals)", 0}, \
    {                                                                                                                \
        "threads", 't', "N", 0, "threads (default: as in the run)", 0                                                \
    }

/* Prints nans.csv of a run directory, if there is one. */
void print_nans(const char *directory);

/* Prints the names of the exporters in this build, each after a blank. */
void print_exporters(FILE *out);

/* help.c: all commands and topics. Row i of examples.def and of topics.def; false past the end. */
int print_help(FILE *out, gess_error *err);
bool example_row(size_t i, const char **name, const char **line, const char **help);
bool topic_row(size_t i, const char **name, const char **help);

/* The whole manual page, in man(7); `gess manual`. */
int print_manual(FILE *out);

/* sample.c: the help of an option with its default, in text[size]. */
void option_help(const gess_entry *row, char *text, size_t size);

/* Columns of the terminal on standard output; 0: it is not a terminal. */
size_t table_width(void);

#endif
