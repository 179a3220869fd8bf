/* Looks into the command of a density that a program computes: the files that it names, and what to call it. */
#include "model/exec.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *gess__exec_command(const char *specification)
{
    static const char prefix[] = "exec:";
    if (specification == NULL || strncmp(specification, prefix, strlen(prefix)) != 0) return NULL;
    return specification + strlen(prefix);
}

/* Copies the next word, without its quotes, to word[size]; *command moves behind it. Returns false if there is none. */
static bool next_word(const char **command, char *word, size_t size)
{
    static const char ends[] = " \t\n;|&<>()";
    const char *c = *command + strspn(*command, ends);
    size_t length = 0;
    char quote = '\0';
    if (*c == '\0') return false;
    for (; *c != '\0' && (quote != '\0' || strchr(ends, *c) == NULL); c++) {
        if (quote == '\0' && (*c == '\'' || *c == '"'))
            quote = *c;
        else if (*c == quote)
            quote = '\0';
        else if (length + 1 < size)
            word[length++] = *c;
    }
    word[length] = '\0';
    *command = c;
    return true;
}

bool gess__exec_file(const char *command, size_t index, char *path, size_t size)
{
    struct stat about;
    while (next_word(&command, path, size))
        if (stat(path, &about) == 0 && S_ISREG(about.st_mode) && index-- == 0) return true;
    return false;
}

/* Whether a path is that of an interpreter, and not of somebody's model. */
static bool is_interpreter(const char *path)
{
    static const char *const names[] = {"python", "Rscript", "perl", "julia", "sh",
                                        "bash",   "dash",    "awk",  "gawk",  "mawk"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && name[length + strspn(name + length, "0123456789.")] == '\0')
            return true;
    }
    return false;
}

void gess__exec_name(const char *command, char *name, size_t size)
{
    size_t i = 0;
    bool found = gess__exec_file(command, 0, name, size);
    while (found && is_interpreter(name)) found = gess__exec_file(command, ++i, name, size);
    if (!found) snprintf(name, size, "%.*s", (int)strcspn(command, " \t"), command);
    char *slash = strrchr(name, '/');
    if (slash != NULL && slash[1] != '\0') memmove(name, slash + 1, strlen(slash + 1) + 1);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name) *dot = '\0';
}
