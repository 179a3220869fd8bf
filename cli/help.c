/* `gess help`: all commands; the help of a command, with its examples; or a topic. The build puts the texts of topics/
 * into topic_files.h as arrays (topic_modes_txt[] and so on) that end with a NUL. */
#include "command.h"
#include "topic_files.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *help;
    const unsigned char *text;
} topics[] = {
#define TOPIC(identifier, help) {#identifier, help, topic_##identifier##_txt},
#include "topics.def"
#undef TOPIC
};
enum { TOPICS = sizeof topics / sizeof *topics };

static const struct {
    const char *command, *line, *help;
} examples[] = {
#define EXAMPLE(command, line, help) {#command, line, help},
#include "examples.def"
#undef EXAMPLE
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

bool example_row(size_t i, const char **name, const char **line, const char **help)
{
    if (i >= EXAMPLES) return false;
    *name = examples[i].command;
    *line = examples[i].line;
    *help = examples[i].help;
    return true;
}

bool topic_row(size_t i, const char **name, const char **help)
{
    if (i >= TOPICS) return false;
    *name = topics[i].name;
    *help = topics[i].help;
    return true;
}

int print_help(FILE *out, gess_error *err)
{
    fprintf(out, "gess draws samples from any probability density that can be evaluated.\n\n");
    for (size_t i = 0; command_row(i) != NULL; i++)
        fprintf(out, "  gess %-10s %s\n", command_row(i)->name, command_row(i)->help);
    fprintf(out,
            "\n`gess help COMMAND` explains a command; `gess --version` describes this build. There is help on:\n\n");
    for (size_t i = 0; i < TOPICS; i++) fprintf(out, "  gess help %-12s %s\n", topics[i].name, topics[i].help);
    return finish_output(err);
}

static void print_examples(const char *of)
{
    bool any = false;
    for (size_t i = 0; i < EXAMPLES; i++) {
        if (strcmp(examples[i].command, of) != 0) continue;
        printf("%s  %s\n      %s\n", any ? "" : "\nExamples:\n", examples[i].line, examples[i].help);
        any = true;
    }
}

/* The help of a command is printed by its parser, which then exits. */
static char *asked;
static void print_examples_at_exit(void)
{
    print_examples(asked);
}

static int explain_command(const command *c, gess_error *err)
{
    char name[64], option[] = "--help", *arguments[] = {name, option, NULL};
    snprintf(name, sizeof name, "%s", c->name);
    asked = strdup(c->name);
    if (asked == NULL) return fail(err, GESS_ERR_INTERNAL, "out of memory");
    atexit(print_examples_at_exit);
    return c->run(2, arguments, err);
}

/* A topic or command that is not there. */
static int unknown(const char *name, gess_error *err)
{
    const char *names[TOPICS + 64];
    size_t count = 0, nearest;
    for (size_t i = 0; i < TOPICS; i++) names[count++] = topics[i].name;
    for (size_t i = 0; command_row(i) != NULL && i < 64; i++) names[count++] = command_row(i)->name;
    nearest = count;
    TRY(gess_nearest_name(name, count, names, &nearest, err));
    if (nearest == count)
        return fail(err, GESS_ERR_USAGE, "no help on `%.100s`; `gess help` lists commands and topics", name);
    return fail(err, GESS_ERR_USAGE, "no help on `%.100s`; did you mean `gess help %s`? `gess help` lists them all",
                name, names[nearest]);
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    const char **name = state->input;
    if (key == ARGP_KEY_END) return 0;
    return take_one(key, argument, state, name, "");
}

int command_help(int argc, char **argv, gess_error *err)
{
    static const struct argp argp = {.parser = take,
                                     .args_doc = "[COMMAND | TOPIC]",
                                     .doc = "Explains a command, with examples, or a topic."};
    const char *name = NULL;
    TRY(parse_arguments(&argp, argc, argv, &name));
    if (name == NULL) return print_help(stdout, err);
    for (size_t i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) {
            fputs((const char *)topics[i].text, stdout);
            return finish_output(err);
        }
    for (size_t i = 0; command_row(i) != NULL; i++)
        if (strcmp(command_row(i)->name, name) == 0) return explain_command(command_row(i), err);
    return unknown(name, err);
}
