/* Reads true values of parameters, as a simulation knows them, from a JSON object or from lines of names and numbers.
 */
#include "base/csv.h"
#include "base/mem.h"
#include "report/plots.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 24 };

static int set(const gess__summary *s, const char *path, const char *name, double value, double *truth, gess_error *err)
{
    for (size_t i = s->hidden; i < s->count; i++) {
        if (strcmp(s->names[i], name) != 0) continue;
        truth[i] = value;
        return GESS_OK;
    }
    return gess__fail(err, GESS_ERR_USAGE, "%s: the run has no parameter `%.100s`; `gess summary` lists them", path,
                      name);
}

static int take_json(const char *text, const char *path, const gess__summary *s, double *truth, gess_error *err)
{
    json_error_t where;
    const char *name;
    json_t *value, *root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL) return gess__fail(err, GESS_ERR_USAGE, "%s, line %d: %s", path, where.line, where.text);
    int status = json_is_object(root)
                     ? GESS_OK
                     : gess__fail(err, GESS_ERR_USAGE, "%s: expected an object of names and numbers", path);
    json_object_foreach(root, name, value)
    {
        if (status != GESS_OK) break;
        if (json_is_number(value))
            status = set(s, path, name, json_number_value(value), truth, err);
        else
            status = gess__fail(err, GESS_ERR_USAGE, "%s: the value of `%.100s` is not a number", path, name);
    }
    json_decref(root);
    return status;
}

/* Cuts blanks, and a comma or `=`, from the end; then quotes around. */
static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 &&
           (isspace((unsigned char)text[length - 1]) || text[length - 1] == ',' || text[length - 1] == '='))
        text[--length] = '\0';
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        text[length - 1] = '\0';
        text++;
    }
    return text;
}

/* A line: a name, which may hold blanks and commas, and a number at its end. */
static int take_line(char *line, const char *path, size_t number, const gess__summary *s, double *truth,
                     gess_error *err)
{
    size_t length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1])) line[--length] = '\0';
    char *start = line + length;
    double value;
    if (length == 0 || line[strspn(line, " \t")] == '#') return GESS_OK;
    while (start > line && !isspace((unsigned char)start[-1]) && start[-1] != ',' && start[-1] != '=') start--;
    if (start == line || !gess__parse_real(start, &value) || !isfinite(value))
        return gess__fail(err, GESS_ERR_USAGE, "%s, line %zu: expected a parameter and its value, as in `mu, 1.5`",
                          path, number);
    start[-1] = '\0';
    return set(s, path, trimmed(line), value, truth, err);
}

static int read_text(const char *path, char **text, gess_error *err)
{
    FILE *in = fopen(path, "r");
    if (in == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    int status = gess__alloc_bytes(text, MAX_BYTES + 1, 1, "a file of true values", err);
    size_t length = status == GESS_OK ? fread(*text, 1, MAX_BYTES + 1, in) : 0;
    if (status == GESS_OK && ferror(in))
        status = gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    if (status == GESS_OK && length > MAX_BYTES)
        status = gess__fail(err, GESS_ERR_USAGE, "%s is too long for a list of true values", path);
    if (status == GESS_OK) (*text)[length] = '\0';
    fclose(in);
    return status;
}

int gess__read_truth(const char *path, const gess__summary *s, double *truth, gess_error *err)
{
    char *text = NULL;
    for (size_t i = 0; i < s->count; i++) truth[i] = NAN;
    int status = read_text(path, &text, err);
    if (status == GESS_OK && text[strspn(text, " \t\r\n")] == '{') {
        status = take_json(text, path, s, truth, err);
    } else if (status == GESS_OK) {
        size_t number = 0;
        for (char *line = text, *next; status == GESS_OK && line != NULL; line = next) {
            next = strchr(line, '\n');
            if (next != NULL) *next++ = '\0';
            status = take_line(line, path, ++number, s, truth, err);
        }
    }
    free(text);
    return status;
}
