/* Writes the command that repeats a run with other options, from its config.json. rules_levels.c and rules_warmup.c put
 * it into their advice. */
#include "report/rerun.h"

#include "base/shell.h"

#include <string.h>

static const char *model_of(const gess__judge *j)
{
    return json_string_value(json_object_get(j->config, "model"));
}

int gess__can_rerun(const gess__judge *j)
{
    return model_of(j) != NULL;
}

void gess__rerun_directory(FILE *out, const gess__judge *j, const char *ending)
{
    char directory[4096];
    snprintf(directory, sizeof directory, "%s", j->directory);
    for (size_t end = strlen(directory); end > 1 && directory[end - 1] == '/'; end--) directory[end - 1] = '\0';
    gess__shell_put(out, directory, ending);
}

void gess__rerun_begin(FILE *out, const gess__judge *j)
{
    fputs("gess sample ", out);
    gess__shell_put(out, model_of(j), "");
    fputs(" --config ", out);
    gess__rerun_directory(out, j, "/config.json");
}

void gess__rerun_end(FILE *out, const gess__judge *j, const char *ending)
{
    fputs(" -o ", out);
    gess__rerun_directory(out, j, ending);
}
