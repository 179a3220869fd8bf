/* Reads the bounds of periodic parameters from JSON and from comments. */
#include "draws/circles.h"

#include "base/assert.h"
#include "base/csv.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 1 << 20 };

/* The column of an entry; 0 if it makes no sense. */
static size_t read_entry(const json_t *item, gess__circle *circle)
{
    json_int_t column = json_integer_value(json_object_get(item, "parameter"));
    circle->interval = false;
    circle->lower = json_number_value(json_object_get(item, "lower"));
    circle->upper = json_number_value(json_object_get(item, "upper"));
    bool good = isfinite(circle->lower) && isfinite(circle->upper) && circle->lower < circle->upper;
    return good && column > 0 && column < MAX_COLUMNS ? (size_t)column : 0;
}

int gess__circles_of_config(const json_t *config, gess__circle **circle, size_t *columns, gess_error *err)
{
    const json_t *lists[2] = {json_object_get(config, "periodic"), json_object_get(config, "bounded")}, *item;
    gess__circle one = {0};
    size_t i;
    GESS_ASSERT(circle != NULL && columns != NULL);
    *circle = NULL;
    *columns = 0;
    for (size_t k = 0; k < 2; k++) json_array_foreach(lists[k], i, item)
        {
            size_t column = read_entry(item, &one);
            if (column >= *columns && column > 0) *columns = column + 1;
        }
    if (*columns == 0) return GESS_OK;
    GESS_ALLOC(circle, *columns, err);
    for (size_t k = 0; k < 2; k++) json_array_foreach(lists[k], i, item)
        {
            size_t column = read_entry(item, &one);
            if (column == 0) continue;
            (*circle)[column] = one;
            (*circle)[column].interval = k == 1;
        }
    return GESS_OK;
}

/* The number up to a comma or the end of the line, whatever the locale. */
static bool read_number(const char *text, double *number)
{
    char alone[GESS__REAL_SIZE];
    text += strspn(text, " \t");
    size_t length = strcspn(text, ", \t\r\n");
    if (length >= sizeof alone) return false;
    memcpy(alone, text, length);
    alone[length] = '\0';
    return gess__parse_real(alone, number);
}

size_t gess__circle_of_comment(const char *line, gess__circle *circle)
{
    circle->interval = false;
    static const char key[] = "periodic_";
    char *end;
    line += strspn(line, "# \t");
    if (strncmp(line, key, strlen(key)) != 0) return 0;
    unsigned long column = strtoul(line + strlen(key), &end, 10);
    end += strspn(end, " \t");
    if (*end != '=' || column == 0 || column >= MAX_COLUMNS) return 0;
    if (!read_number(end + 1, &circle->lower)) return 0;
    end = strchr(end, ',');
    if (end == NULL || !read_number(end + 1, &circle->upper)) return 0;
    return isfinite(circle->lower) && isfinite(circle->upper) && gess__is_circle(circle) ? (size_t)column : 0;
}
