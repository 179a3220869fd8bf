/* Makes the text that public functions return, and releases it. */
#include "api/text.h"

#include <gess/draws.h>
#include <stdlib.h>

void gess_text_free(char *text)
{
    free(text);
}

int gess__text_begin(gess__text *t, gess_error *err)
{
    *t = (gess__text){0};
    t->out = open_memstream(&t->memory, &t->size);
    if (t->out == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a text");
    t->numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (t->numbers != (locale_t)0) t->before = uselocale(t->numbers);
    return GESS_OK;
}

int gess__text_end(gess__text *t, char **result, gess_error *err)
{
    if (t->numbers != (locale_t)0) {
        uselocale(t->before);
        freelocale(t->numbers);
    }
    int bad = ferror(t->out);
    if (fclose(t->out) != 0 || bad || t->memory == NULL) {
        free(t->memory);
        *result = NULL;
        return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a text");
    }
    *result = t->memory;
    return GESS_OK;
}

int gess__text_of_json(json_t *root, char **result, gess_error *err)
{
    gess__text text;
    *result = NULL;
    int status =
        root != NULL ? gess__text_begin(&text, err) : gess__fail(err, GESS_ERR_INTERNAL, "out of memory for JSON");
    if (status == GESS_OK) {
        int code = json_dumpf(root, text.out, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
        fputc('\n', text.out);
        status = gess__text_end(&text, result, err);
        if (status == GESS_OK && code != 0) {
            free(*result);
            *result = NULL;
            status = gess__fail(err, GESS_ERR_INTERNAL,
                                "the JSON cannot be written: a name is not UTF-8, or memory ran out");
        }
    }
    json_decref(root);
    return status;
}

int gess__no_format(const char *function, int format, gess_error *err)
{
    return gess__fail(err, GESS_ERR_USAGE, "%s: there is no format %d of this; see enum gess_format", function, format);
}
