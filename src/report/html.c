/* Writes the page to its file: fills the template with style, scripts and escaped JSON, and replaces the old file
 * atomically. html_data.c and html_column.c compute the data. */
#include "report/html.h"

#include "base/assert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* JSON inside a script element must not contain `<`, `>`, `&` or a Unicode line separator. They occur in strings only,
 * and jansson escapes all that is not ASCII. */
static int put_escaped(const char *text, size_t length, void *user)
{
    FILE *out = user;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            fprintf(out, "\\u%04x", (unsigned)text[i]);
        else
            fputc(text[i], out);
    }
    return ferror(out) ? -1 : 0;
}

static int put_part(FILE *out, const gess__page *page, const json_t *data, const char *name, size_t length)
{
    const struct {
        const char *name, *text;
    } parts[] = {{"style", page->style},
                 {"chart", page->chart},
                 {"vector", page->vector},
                 {"figures", page->figures},
                 {"script", page->script}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && strncmp(parts[i].name, name, length) == 0)
            return fputs(parts[i].text, out) < 0;
    return json_dump_callback(data, put_escaped, out, JSON_COMPACT | JSON_ENSURE_ASCII);
}

/* The page, with {{style}}, {{chart}}, {{data}}, {{vector}}, {{figures}} and {{script}} replaced. */
static int put_page(FILE *out, const gess__page *page, const json_t *data)
{
    const char *rest = page->html;
    for (;;) {
        const char *open = strstr(rest, "{{"), *close = open != NULL ? strstr(open, "}}") : NULL;
        if (close == NULL) return fputs(rest, out) < 0;
        if (fwrite(rest, 1, (size_t)(open - rest), out) != (size_t)(open - rest)) return -1;
        if (put_part(out, page, data, open + 2, (size_t)(close - open - 2)) != 0) return -1;
        rest = close + 2;
    }
}

static int cannot(const char *path, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
}

static int write_to(const gess__page *page, const json_t *data, const char *path, gess_error *err)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) return cannot(path, err);
    int bad = put_page(out, page, data) != 0 || fflush(out) != 0;
    int reason = errno;
    if (fclose(out) != 0 && !bad) {
        bad = 1;
        reason = errno;
    }
    errno = reason;
    return bad ? cannot(path, err) : GESS_OK;
}

int gess__page_write(const gess__page *page, const json_t *data, const char *path, gess_error *err)
{
    char temporary[4096];
    struct stat information;
    GESS_ASSERT(data != NULL && path != NULL);
    if (stat(path, &information) == 0 && !S_ISREG(information.st_mode)) return write_to(page, data, path, err);
    int length = snprintf(temporary, sizeof temporary, "%s.tmp", path);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return gess__fail(err, GESS_ERR_USAGE, "the path of the report is too long: %.200s…", path);
    int status = write_to(page, data, temporary, err);
    if (status == GESS_OK && rename(temporary, path) != 0) status = cannot(path, err);
    if (status != GESS_OK) unlink(temporary);
    return status;
}
