/* `gess new`: a folder with a model to start from, in one of several languages (templates.c). */
#include "command.h"
#include "templates.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME = 64 };

struct arguments {
    const char *name, *language;
};

/* What the marks in a file stand for. */
struct marks {
    const char *name;
    char include[PATH_MAX], library[PATH_MAX], fortran[PATH_MAX + 32];
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (key == 'l') {
        a->language = argument;
        return 0;
    }
    return take_one(key, argument, state, &a->name, "which name? give one for the model");
}

static int check_name(const char *name, gess_error *err)
{
    bool good = isalpha((unsigned char)name[0]) && strlen(name) <= MAX_NAME;
    for (const char *c = name; *c != '\0'; c++) good &= isalnum((unsigned char)*c) || *c == '_' || *c == '-';
    if (good) return GESS_OK;
    return fail(err, GESS_ERR_USAGE,
                "`%.100s` is not a name for a model: use at most %d letters, digits, _ and -, a letter first; "
                "the "
                "folder is made in the current one",
                name, MAX_NAME);
}

/* Finds the template of a language. */
static int find_template(const char *language, const struct template **found, gess_error *err)
{
    const char *names[TEMPLATES];
    size_t nearest;
    for (size_t i = 0; i < TEMPLATES; i++) {
        names[i] = templates[i].language;
        if (strcmp(names[i], language) != 0) continue;
        *found = &templates[i];
        return GESS_OK;
    }
    TRY(gess_nearest_name(language, TEMPLATES, names, &nearest, err));
    return fail(err, GESS_ERR_USAGE, "--lang %.100s: it must be c, c++, fortran, python, stan, exec or cuda%s%s%s",
                language, nearest < TEMPLATES ? " (did you mean `" : "", nearest < TEMPLATES ? names[nearest] : "",
                nearest < TEMPLATES ? "`?)" : "");
}

/* ---- where gess is ---- */

/* Accepts a folder that holds a file, and whose path can stand between quotes in the files. */
static bool try_folder(const char *folder, const char *file, char *out, size_t size)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    char *real = access(path, R_OK) == 0 ? realpath(folder, NULL) : NULL;
    bool good = real != NULL && strlen(real) < size && strpbrk(real, "'\"`$#()\\\n") == NULL;
    if (good) snprintf(out, size, "%s", real);
    free(real);
    return good;
}

/* The same for a folder named from that of the command. */
static bool try_beside(const char *folder, const char *file, char *out, size_t size)
{
    char beside[2 * PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", beside, PATH_MAX - 1);
    char *slash = length > 0 ? strrchr(beside, '/') : NULL;
    if (slash == NULL) return false;
    snprintf(slash, PATH_MAX, "/%s", folder);
    return try_folder(beside, file, out, size);
}

/* Headers, library and module that belong to this command: those of its installation, otherwise those of its sources.
 */
static void find_gess(struct marks *m)
{
    if (!try_beside("../include", "gess/gess.h", m->include, sizeof m->include) &&
        !try_folder(GESS_SOURCE_DATA "/../include", "gess/gess.h", m->include, sizeof m->include))
        snprintf(m->include, sizeof m->include, "/usr/local/include");
    if (!try_beside(".", "libgess.so", m->library, sizeof m->library) &&
        !try_beside("../" GESS_LIBDIR, "libgess.so", m->library, sizeof m->library))
        snprintf(m->library, sizeof m->library, "/usr/local/lib");
    char folder[PATH_MAX];
    bool installed = snprintf(folder, sizeof folder, "%.4000s/gess", m->include) > 0 &&
                     try_folder(folder, "gess.f90", folder, sizeof folder);
    if (!installed && !try_folder(GESS_SOURCE_DATA "/../fortran", "gess.f90", folder, sizeof folder))
        snprintf(folder, sizeof folder, "/usr/local/include/gess");
    snprintf(m->fortran, sizeof m->fortran, "%s/gess.f90", folder);
}

/* ---- the files ---- */

/* Writes a file's text with its marks replaced. */
static int write_file(const char *path, const char *text, const struct marks *m, gess_error *err)
{
    const struct {
        const char *mark, *value;
    } marks[] = {{"@NAME@", m->name}, {"@INCLUDE@", m->include}, {"@LIB@", m->library}, {"@FORTRAN@", m->fortran}};
    FILE *file = fopen(path, "wx");
    if (file == NULL) return fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    while (*text != '\0') {
        size_t i = 0, count = sizeof marks / sizeof *marks;
        while (i < count && strncmp(text, marks[i].mark, strlen(marks[i].mark)) != 0) i++;
        if (i < count) {
            fputs(marks[i].value, file);
            text += strlen(marks[i].mark);
        } else {
            fputc(*text++, file);
        }
    }
    int bad = ferror(file);
    if (fclose(file) != 0 || bad) return fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    return GESS_OK;
}

static void file_path(char path[256], const char *name, const struct template_file *file)
{
    if (file->name[0] == '@')
        snprintf(path, 256, "%s/%s%s", name, name, file->name + 1);
    else
        snprintf(path, 256, "%s/%s", name, file->name);
}

/* Writes all files; after an error it removes them and the folder. */
static int write_files(const char *name, const struct template *t, gess_error *err)
{
    char path[256];
    struct marks marks = {.name = name};
    int status = GESS_OK;
    find_gess(&marks);
    if (mkdir(name, 0777) != 0) {
        if (errno == EEXIST)
            return fail(err, GESS_ERR_USAGE, "%s exists already; choose another name, or move it away", name);
        return fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", name, strerror(errno));
    }
    for (const struct template_file *f = t->files; f->name != NULL && status == GESS_OK; f++) {
        file_path(path, name, f);
        status = write_file(path, (const char *)f->text, &marks, err);
    }
    if (status == GESS_OK) return GESS_OK;
    for (const struct template_file *f = t->files; f->name != NULL; f++) {
        file_path(path, name, f);
        unlink(path);
    }
    rmdir(name);
    return status;
}

/* Prints lines, indented, with the name for @. */
static void print_next(const char *text, const char *name)
{
    bool begins = true;
    for (; *text != '\0'; text++) {
        if (begins) fputs("  ", stdout);
        begins = *text == '\n';
        if (*text == '@')
            fputs(name, stdout);
        else
            putchar(*text);
    }
}

int command_new(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] =
        {{"lang", 'l', "LANG", 0, "c (default), c++, fortran, python, stan, exec (a program that gess starts) or cuda",
          0},
         {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "NAME",
                                     .doc = "Writes a folder NAME with a model of your own to start from: its source, "
                                            "data, what builds it, and how to "
                                            "build and sample it."};
    struct arguments a = {.language = "c"};
    const struct template *t = NULL;
    TRY(parse_arguments(&argp, argc, argv, &a));
    TRY(check_name(a.name, err));
    TRY(find_template(a.language, &t, err));
    TRY(write_files(a.name, t, err));
    for (const struct template_file *f = t->files; f->name != NULL; f++) {
        char path[256];
        file_path(path, a.name, f);
        printf("%-*s  %s\n", 2 * (int)strlen(a.name) + 10, path, f->help);
    }
    printf("\nNow:\n");
    print_next(t->next, a.name);
    return finish_output(err);
}
