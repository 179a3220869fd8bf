/* Quotes texts for the shell: between apostrophes, if a character has a meaning there. */
#include "base/shell.h"

#include "base/status.h"

#include <gess/draws.h>
#include <stdlib.h>
#include <string.h>

void gess__shell_put(FILE *out, const char *text, const char *ending)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    size_t length = strlen(text);
    if (length > 0 && strspn(text, plain) == length) {
        fprintf(out, "%s%s", text, ending);
        return;
    }
    fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    for (const char *c = ending; *c != '\0'; c++) fputc(*c, out);
    fputc('\'', out);
}

const char *gess__shell_quote(const char *text, char *quoted, size_t size)
{
    quoted[0] = quoted[size - 1] = '\0';
    FILE *out = fmemopen(quoted, size, "w");
    if (out == NULL) return quoted;
    gess__shell_put(out, text, "");
    fputc('\0', out);
    if (fclose(out) != 0 || quoted[size - 1] != '\0') quoted[0] = '\0';
    return quoted;
}

int gess_text_quote(const char *text, char **quoted, gess_error *err)
{
    GESS_REQUIRE(quoted, err);
    *quoted = NULL;
    GESS_REQUIRE(text, err);
    size_t size = 0;
    FILE *out = open_memstream(quoted, &size);
    if (out != NULL) gess__shell_put(out, text, "");
    if (out != NULL && fclose(out) == 0) return GESS_OK;
    free(*quoted);
    *quoted = NULL;
    return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a text");
}
