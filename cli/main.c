/* The command `gess`: finds the command that its first argument names, and prints its error message. */
#include "command.h"
#include "launch.h"
#include "supervise.h"

#include <fcntl.h>
#include <gess/draws.h>
#include <pthread.h>
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

/* How many options of argp begin with text[length]; *exact: the one that is equal, or the last of them. */
static size_t count_options(const struct argp *argp, const char *text, size_t length, const struct argp_option **exact)
{
    size_t count = 0;
    bool equal = false;
    for (const struct argp_option *o = argp->options; o != NULL && o->name != NULL; o++) {
        if (strncmp(o->name, text, length) != 0) continue;
        count++;
        if (!equal) *exact = o;
        equal |= strlen(o->name) == length;
    }
    return count;
}

/* A usage error for a long option that does not exist but is near one that does; argp's own message names none. */
static void suggest_option(const struct argp *argp, int argc, char **argv)
{
    const char *names[128] = {"help", "usage"};
    size_t count = 2, nearest;
    for (const struct argp_option *o = argp->options; o != NULL && o->name != NULL && count < 128; o++)
        names[count++] = o->name;
    for (int i = 1; i < argc && argv[i] != NULL && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        const char *text = argv[i] + 2;
        size_t length = strcspn(text, "=");
        const struct argp_option *option = NULL;
        if (strncmp("help", text, length) == 0 || strncmp("usage", text, length) == 0) continue;
        if (count_options(argp, text, length, &option) > 0) {
            if (option->arg != NULL && text[length] == '\0') i++; /* its value may look like an option */
            continue;
        }
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (gess_nearest_name(word, count, names, &nearest, NULL) != GESS_OK || nearest == count) continue;
        if (launch_rank() == 0)
            fprintf(stderr, "%s: there is no option --%s; did you mean --%s?\nTry `%s --help' for more information.\n",
                    argv[0], word, names[nearest], argv[0]);
        exit(GESS_ERR_USAGE);
    }
}

static const char *listed; /* beginning of the options that parse_arguments() is to print */

void list_options(const char *prefix)
{
    listed = prefix;
}

static void print_options(const struct argp *argp)
{
    char text[96];
    for (const struct argp_option *o = argp->options; o != NULL && (o->name != NULL || o->key != 0); o++) {
        snprintf(text, sizeof text, "--%s", o->name != NULL ? o->name : "");
        if (o->name != NULL && strncmp(text, listed, strlen(listed)) == 0) puts(text);
    }
    if (strncmp("--help", listed, strlen(listed)) == 0) puts("--help");
}

int parse_arguments(const struct argp *argp, int argc, char **argv, void *input)
{
    if (listed != NULL) {
        print_options(argp);
        exit(fflush(stdout) == 0 ? GESS_OK : GESS_ERR_FILE);
    }
    static char name[64];
    snprintf(name, sizeof name, "gess %s", argv[0]);
    argv[0] = name;
    argp_err_exit_status = GESS_ERR_USAGE;
    suggest_option(argp, argc, argv);
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

static int run_command(int argc, char **argv, gess_error *err)
{
    if (argc < 2) {
        printf("gess draws samples from any probability density that can be evaluated.\n\n");
        print_commands(stdout, 1);
        printf("  gess --help   all commands\n\nTry: gess sample german-credit\n");
        return finish_output(err);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) return print_version(err);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help(stdout, err);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, argv[1]) == 0) return table[i].run(argc - 1, argv + 1, err);
    const char *names[sizeof table / sizeof *table];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) names[i] = table[i].name;
    size_t nearest = sizeof table / sizeof *table;
    TRY(gess_nearest_name(argv[1], nearest, names, &nearest, err));
    if (nearest == sizeof table / sizeof *table)
        return fail(err, GESS_ERR_USAGE, "no command `%s`; `gess --help` lists them", argv[1]);
    return fail(err, GESS_ERR_USAGE, "no command `%s`; did you mean `gess %s`? `gess --help` lists the commands",
                argv[1], names[nearest]);
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
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &(int){0}); /* a density may ask for it */
    signal(SIGXFSZ, SIG_IGN); /* so that a file that grows too large is a failed write, with a message */
    supervise(argc > 1 ? argv[1] : "");
    int status = launch_open(argc > 1 ? argv[1] : "", &err);
    if (status == GESS_OK && !launch_idle()) status = run_command(argc, argv, &err);
    if (status != GESS_OK && err.text[0] != '\0' && launch_rank() == 0) fprintf(stderr, "gess: %s\n", err.text);
    supervised_end(status);
    return launch_close(status, &err);
}
