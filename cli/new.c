/* `gess new`: a folder with a model to start from. The build puts the files of examples/new into new_files.h as arrays
 * (new_model_c[] and so on) that end with a NUL. */
#include "command.h"
#include "new_files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME = 64 };

static const struct {
    const char *name; /* @ stands for the model's name */
    const unsigned char *text;
    const char *help;
} files[] = {
    {"@.c", new_model_c, "the model: change it to yours"},
    {"data.csv", new_data_csv, "its data"},
    {"Makefile", new_Makefile, "builds it"},
    {"README.md", new_README_md, "how to build and sample it"},
};
enum { FILES = sizeof files / sizeof *files };

static error_t take(int key, char *argument, struct argp_state *state)
{
    return take_one(key, argument, state, state->input, "which name? give one for the model");
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

/* Accepts a folder that holds the headers and whose path can stand between quotes in the files. */
static bool try_headers(const char *folder, char *out, size_t size)
{
    char header[PATH_MAX + 16];
    snprintf(header, sizeof header, "%s/gess/gess.h", folder);
    char *real = access(header, R_OK) == 0 ? realpath(folder, NULL) : NULL;
    bool good = real != NULL && strlen(real) < size && strpbrk(real, "'\"`$#()\\\n") == NULL;
    if (good) snprintf(out, size, "%s", real);
    free(real);
    return good;
}

/* The headers that belong to this command: those of its installation, otherwise those of its sources. */
static void find_headers(char *out, size_t size)
{
    char beside[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", beside, sizeof beside - 32);
    char *slash = length > 0 ? strrchr(beside, '/') : NULL;
    if (slash != NULL) {
        snprintf(slash, 32, "/../include");
        if (try_headers(beside, out, size)) return;
    }
    if (!try_headers(GESS_SOURCE_DATA "/../include", out, size)) snprintf(out, size, "/usr/local/include");
}

/* Writes a file's text with @NAME@ and @INCLUDE@ replaced. */
static int write_file(const char *path, const char *text, const char *name, const char *headers, gess_error *err)
{
    static const char name_mark[] = "@NAME@", headers_mark[] = "@INCLUDE@";
    FILE *file = fopen(path, "wx");
    if (file == NULL) return fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    while (*text != '\0') {
        if (strncmp(text, name_mark, strlen(name_mark)) == 0) {
            fputs(name, file);
            text += strlen(name_mark);
        } else if (strncmp(text, headers_mark, strlen(headers_mark)) == 0) {
            fputs(headers, file);
            text += strlen(headers_mark);
        } else {
            fputc(*text++, file);
        }
    }
    int bad = ferror(file);
    if (fclose(file) != 0 || bad) return fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    return GESS_OK;
}

static void file_path(char path[256], const char *name, size_t i)
{
    if (files[i].name[0] == '@')
        snprintf(path, 256, "%s/%s%s", name, name, files[i].name + 1);
    else
        snprintf(path, 256, "%s/%s", name, files[i].name);
}

/* Writes all files; after an error it removes them and the folder. */
static int write_files(const char *name, gess_error *err)
{
    char path[256], headers[PATH_MAX];
    int status = GESS_OK;
    find_headers(headers, sizeof headers);
    if (mkdir(name, 0777) != 0) {
        if (errno == EEXIST)
            return fail(err, GESS_ERR_USAGE, "%s exists already; choose another name, or move it away", name);
        return fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", name, strerror(errno));
    }
    for (size_t i = 0; i < FILES && status == GESS_OK; i++) {
        file_path(path, name, i);
        status = write_file(path, (const char *)files[i].text, name, headers, err);
    }
    if (status == GESS_OK) return GESS_OK;
    for (size_t i = 0; i < FILES; i++) {
        file_path(path, name, i);
        unlink(path);
    }
    rmdir(name);
    return status;
}

int command_new(int argc, char **argv, gess_error *err)
{
    static const struct argp argp =
        {.parser = take,
         .args_doc = "NAME",
         .doc =
             "Writes a folder NAME with a model of your own to start from: its C source, data, a Makefile and how to "
             "build and sample it."};
    const char *name = NULL;
    TRY(parse_arguments(&argp, argc, argv, &name));
    TRY(check_name(name, err));
    TRY(write_files(name, err));
    for (size_t i = 0; i < FILES; i++) {
        char path[256];
        file_path(path, name, i);
        printf("%-*s  %s\n", 2 * (int)strlen(name) + 10, path, files[i].help);
    }
    printf("\nNow:\n  make -C %s\n  gess sample ./%s/%s.so --data %s/data.csv\n", name, name, name, name);
    return finish_output(err);
}
