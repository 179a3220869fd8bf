/* The command `gess`: finds the command that its first argument names, and prints its error message. */
#include "command.h"
#include "launch.h"
#include "supervise.h"

#include <fcntl.h>
#include <gess/draws.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const command table[] = {
#define COMMAND(identifier, arguments, newcomer, help) {#identifier, arguments, help, newcomer, command_##identifier},
#include "commands.def"
#undef COMMAND
};

const command *command_row(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

error_t take_one(int key, char *argument, struct argp_state *state, const char **one, const char *ask)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*one != NULL) USAGE(state, "`%s` is one argument too many: `%s` was given", argument, *one);
        *one = argument;
        return 0;
    case ARGP_KEY_END:
        if (*one == NULL) USAGE(state, "%s", ask);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int parse_arguments(const struct argp *argp, int argc, char **argv, void *input)
{
    static char name[64];
    snprintf(name, sizeof name, "gess %s", argv[0]);
    argv[0] = name;
    argp_err_exit_status = GESS_ERR_USAGE;
    /* of several processes only rank 0 prints */
    FILE *out = stdout, *messages = stderr, *nowhere = launch_rank() > 0 ? fopen("/dev/null", "w") : NULL;
    if (nowhere != NULL) stdout = stderr = nowhere;
    int status = argp_parse(argp, argc, argv, 0, NULL, input) == 0 ? GESS_OK : GESS_ERR_USAGE;
    stdout = out;
    stderr = messages;
    if (nowhere != NULL) fclose(nowhere);
    return status;
}

int fail(gess_error *err, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return err->status = status;
}

bool list_row(int kind, size_t i, gess_entry *row)
{
    return gess_list(kind, i, row, sizeof *row, NULL) == GESS_OK;
}

int print_text(char *text, gess_error *err)
{
    fputs(text, stdout);
    gess_text_free(text);
    return finish_output(err);
}

int finish_output(gess_error *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return GESS_OK;
    return fail(err, GESS_ERR_FILE, "cannot write to standard output");
}

static void print_commands(FILE *out, int newcomers)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].newcomer || !newcomers) fprintf(out, "  gess %-8s %s\n", table[i].name, table[i].help);
}

static int print_version(gess_error *err)
{
    char path[4096];
    gess_build_info build;
    TRY(gess_build(&build, sizeof build, err));
    printf("gess %s\nBLAS: %s\nCPU: %s\ncompiler: %s\nexports:", build.version, build.blas, build.cpu, build.compiler);
    print_exporters(stdout);
    printf("\nMPI: %s\n", gess_comm_library(path, sizeof path, NULL) == GESS_OK ? "yes" : "no");
    return finish_output(err);
}

static int print_help(FILE *out, gess_error *err)
{
    fprintf(out, "gess draws samples from any probability density that can be evaluated.\n\n");
    print_commands(out, 0);
    fprintf(out, "\n`gess COMMAND --help` explains a command; `gess --version` describes this build.\n");
    return finish_output(err);
}

static int run_command(int argc, char **argv, gess_error *err)
{
    if (argc < 2) {
        printf("gess draws samples from any probability density that can be evaluated.\n\n");
        print_commands(stdout, 1);
        printf("  gess --help   all commands\n\nTry: gess sample german-credit\n");
        return finish_output(err);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) return print_version(err);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_help(stdout, err);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, argv[1]) == 0) return table[i].run(argc - 1, argv + 1, err);
    return fail(err, GESS_ERR_USAGE, "no command `%s`; `gess --help` lists them", argv[1]);
}

/* A standard stream that is closed would be the number of the next file that is opened, and messages would go there. */
static void open_standard_streams(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(GESS_ERR_FILE);
}

int main(int argc, char **argv)
{
    gess_error err = {0};
    open_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* so that a file that grows too large is a failed write, with a message */
    supervise(argc > 1 ? argv[1] : "");
    int status = launch_open(argc > 1 ? argv[1] : "", &err);
    if (status == GESS_OK && !launch_idle()) status = run_command(argc, argv, &err);
    if (status != GESS_OK && err.text[0] != '\0' && launch_rank() == 0) fprintf(stderr, "gess: %s\n", err.text);
    supervised_end(status);
    return launch_close(status, &err);
}
