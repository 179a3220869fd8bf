/* `gess completion SHELL`: a script that completes the command in bash, zsh or fish. The scripts ask the command itself
 * (`gess completion --words WORD...`, the last one unfinished), so they need no list of their own. Where the command
 * has no answer, the shell completes names of files. */
#include "command.h"
#include "completion_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const unsigned char *text;
} shells[] = {{"bash", shell_gess_bash}, {"zsh", shell_gess_zsh}, {"fish", shell_gess_fish}};

/* ---- candidates ---- */

static void offer(const char *prefix, const char *text)
{
    if (strncmp(text, prefix, strlen(prefix)) == 0) puts(text);
}

static void offer_list(const char *prefix, int kind)
{
    gess_entry row;
    for (size_t i = 0; list_row(kind, i, &row); i++) offer(prefix, row.name);
}

static void offer_commands(const char *prefix)
{
    for (size_t i = 0; command_row(i) != NULL; i++) offer(prefix, command_row(i)->name);
    offer(prefix, "--help");
    offer(prefix, "--version");
}

static void offer_topics(const char *prefix)
{
    const char *name, *help;
    offer_commands(prefix);
    for (size_t i = 0; topic_row(i, &name, &help); i++) offer(prefix, name);
}

/* The folders below gess-runs. */
static void offer_runs(const char *prefix)
{
    DIR *folder = opendir("gess-runs");
    char path[512];
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "gess-runs/%s", entry->d_name);
            offer(prefix, path);
        }
    if (folder != NULL) closedir(folder);
}

/* Values of an option that takes a name of a table. */
static bool offer_values(const char *option, const char *prefix)
{
    static const struct {
        const char *option;
        int kind;
    } named[] = {{"--kernel", GESS_LIST_KERNELS}, {"--schedule", GESS_LIST_SCHEDULES}, {"--to", GESS_LIST_EXPORTERS}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].option, option) == 0) {
            offer_list(prefix, named[i].kind);
            return true;
        }
    return false;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

/* Options of a command: its parser prints them and exits. */
static int offer_options(const char *name, const char *prefix, gess_error *err)
{
    for (size_t i = 0; command_row(i) != NULL; i++) {
        if (strcmp(command_row(i)->name, name) != 0) continue;
        char own[64], *arguments[] = {own, NULL};
        snprintf(own, sizeof own, "%s", name);
        list_options(prefix);
        return command_row(i)->run(1, arguments, err);
    }
    return GESS_OK;
}

/* Candidates for the last of the words, which follow `gess`. */
static int offer_words(int count, char **words, gess_error *err)
{
    static const char *const of_models[] = {"sample", "eval", "check", NULL};
    static const char *const of_runs[] = {"resume", "watch",  "summary",  "diagnose", "report",
                                          "plot",   "export", "evidence", "compare",  NULL};
    const char *last = count > 0 ? words[count - 1] : "";
    if (count <= 1)
        offer_commands(last);
    else if (last[0] == '-')
        return offer_options(words[0], last, err);
    else if (offer_values(words[count - 2], last))
        return finish_output(err);
    else if (count == 2 && strcmp(words[0], "help") == 0)
        offer_topics(last);
    else if (count == 2 && is_one_of(words[0], of_models))
        offer_list(last, GESS_LIST_MODELS);
    else if (count == 3 && strcmp(words[0], "plot") == 0)
        offer_list(last, GESS_LIST_PLOTS);
    else if (is_one_of(words[0], of_runs) && words[count - 2][0] != '-')
        offer_runs(last);
    return finish_output(err);
}

int command_completion(int argc, char **argv, gess_error *err)
{
    static const struct argp argp = {.args_doc = "bash|zsh|fish",
                                     .doc = "Prints a script that completes `gess` in a shell. For bash:\n\n"
                                            "    eval \"$(gess completion bash)\""};
    if (argc > 1 && strcmp(argv[1], "--words") == 0) return offer_words(argc - 2, argv + 2, err);
    for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, argv[1]) == 0) {
            fputs((const char *)shells[i].text, stdout);
            return finish_output(err);
        }
    if (argc == 2 && argv[1][0] != '-')
        return fail(err, GESS_ERR_USAGE, "no completion for `%.100s`; there are bash, zsh and fish", argv[1]);
    TRY(parse_arguments(&argp, argc, argv, NULL));
    return fail(err, GESS_ERR_USAGE, "which shell? give bash, zsh or fish");
}
