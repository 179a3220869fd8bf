/* The exporter `csv`: CmdStan's CSV, PATH/chain-1.csv, PATH/chain-2.csv, …
 *
 * A file has comments of `key = value`, a header, draws with 17 digits, and comments with the times. ArviZ, R and
 * stansummary read it; the comments are those of CmdStan's method "sample", which these programs expect. */
#include "base/mem.h"
#include "export/atomic_file.h"
#include "export/registry.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NUMBER = 26 /* characters of a number and its comma */ };

/* A file that is being written. */
typedef struct out {
    FILE *file;
    const char *path;
} out;

static int put_bytes(const out *o, const char *bytes, size_t count, gess_error *err)
{
    if (fwrite(bytes, 1, count, o->file) == count) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", o->path, strerror(errno));
}

__attribute__((format(printf, 3, 4))) static int put(const out *o, gess_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int count = vfprintf(o->file, format, args);
    va_end(args);
    if (count >= 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", o->path, strerror(errno));
}

/* ---- names ---- */

/* A name as a field. It is quoted if it has a comma, quote, line break or `#`, or blanks at its ends. If a
 * spreadsheet would take it for a formula, it gets an apostrophe in front, which draws/csv_chains.c removes again; a
 * name that already begins with apostrophes and then such a character gets one more. */
static int put_name(const out *o, const char *name, gess_error *err)
{
    size_t length = strlen(name);
    bool formula = strchr("=+-@\t\r", name[strspn(name, "'")]) != NULL && name[strspn(name, "'")] != '\0';
    bool quoted = strpbrk(name, ",\"\n\r#") != NULL ||
                  (length > 0 && (strchr(" \t", name[0]) != NULL || strchr(" \t", name[length - 1]) != NULL));
    int good = !quoted || fputc('"', o->file) != EOF;
    if (formula) good &= fputc('\'', o->file) != EOF;
    for (; *name != '\0'; name++) {
        if (*name == '"') good &= fputc('"', o->file) != EOF;
        good &= fputc(*name, o->file) != EOF;
    }
    if (quoted) good &= fputc('"', o->file) != EOF;
    return good ? GESS_OK : gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", o->path, strerror(errno));
}

/* The name of a quantity of a Stan model as CmdStan writes it: theta.1.2 for theta[1,2]. */
static int put_stan_name(const out *o, const char *name, gess_error *err)
{
    int good = 1;
    for (; *name != '\0'; name++)
        if (*name != ']') good &= fputc(*name == '[' || *name == ',' ? '.' : *name, o->file) != EOF;
    return good ? GESS_OK : gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", o->path, strerror(errno));
}

/* A model's name in a comment. Readers split comments into words, so the name must be a single word. */
static int put_model(const out *o, const char *model, gess_error *err)
{
    GESS_TRY(put(o, err, "# model = "));
    for (; *model != '\0'; model++) {
        unsigned char c = (unsigned char)*model;
        GESS_TRY(put(o, err, "%c", c <= ' ' || c == 0x7f || c == '(' || c == ')' || c == '#' ? '_' : *model));
    }
    return put(o, err, "\n");
}

/* ---- one file ---- */

static int put_head(const out *o, const gess__export *run, size_t chain, gess_error *err)
{
    const gess__reader *d = run->draws;
    GESS_TRY(put(o, err, "# gess_version = %s\n", gess_version()));
    GESS_TRY(put_model(o, run->model != NULL ? run->model : "unknown", err));
    if (run->started != 0) {
        char text[32];
        struct tm parts;
        gmtime_r(&run->started, &parts);
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
        GESS_TRY(put(o, err, "# start_datetime = %s\n", text));
    }
    GESS_TRY(put(o, err,
                 "# method = sample (Default)\n#   sample\n#     num_samples = %" PRIu64 "\n#     num_warmup = %" PRIu64
                 "\n#     save_warmup = 0\n#     thin = %" PRIu64 "\n# id = %zu\n",
                 d->draws * d->thin, run->warmup, d->thin, chain + 1));
    if (run->seed != NULL) GESS_TRY(put(o, err, "# random\n#   seed = %s\n", run->seed));
    for (size_t j = 0; j < d->columns; j++) {
        const gess__circle *circle = gess__export_circle(run, j);
        if (circle != NULL) GESS_TRY(put(o, err, "# periodic_%zu = %.17g, %.17g\n", j, circle->lower, circle->upper));
    }
    for (size_t j = 0; j < d->columns; j++) {
        if (j > 0) GESS_TRY(put_bytes(o, ",", 1, err));
        GESS_TRY(d->parameters > 0 ? put_stan_name(o, d->names[j], err) : put_name(o, d->names[j], err));
    }
    return put_bytes(o, "\n", 1, err);
}

static int put_foot(const out *o, const gess__export *run, gess_error *err)
{
    double warmup = run->seconds_warmup, sampling = run->seconds_sampling;
    if (!isfinite(warmup) || !isfinite(sampling)) return GESS_OK;
    return put(o, err,
               "# \n#  Elapsed Time: %.6g seconds (Warm-up)\n#                %.6g seconds (Sampling)\n#               "
               " "
               "%.6g seconds (Total)\n# \n",
               warmup, sampling, warmup + sampling);
}

static char *format_number(char *to, double x)
{
    if (isfinite(x)) return to + snprintf(to, MAX_NUMBER, "%.17g", x);
    return stpcpy(to, isnan(x) ? "NaN" : x > 0 ? "inf" : "-inf");
}

/* rows: room for a chunk of draws; line: room for a draw as text. */
static int put_draws(const out *o, const gess__reader *d, size_t chain, uint64_t chunk, double *rows, char *line,
                     gess_error *err)
{
    for (uint64_t first = 0; first < d->draws; first += chunk) {
        uint64_t n = d->draws - first < chunk ? d->draws - first : chunk;
        GESS_TRY(gess__reader_rows(d, chain, 1, first, n, rows, err));
        for (uint64_t i = 0; i < n; i++) {
            char *end = line;
            for (size_t j = 0; j < d->columns; j++) {
                end = format_number(end, rows[i * d->columns + j]);
                *end++ = j + 1 < d->columns ? ',' : '\n';
            }
            GESS_TRY(put_bytes(o, line, (size_t)(end - line), err));
        }
    }
    return GESS_OK;
}

static int write_chain(const gess__export *run, size_t chain, gess__partial *partial, double *rows, char *line,
                       gess_error *err)
{
    out o = {.file = fopen(partial->temporary, "wx"), .path = partial->path};
    if (o.file == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot create %s: %s", o.path, strerror(errno));
    int status = put_head(&o, run, chain, err);
    if (status == GESS_OK)
        status = put_draws(&o, run->draws, chain, gess__export_chunk(run->draws, 1), rows, line, err);
    if (status == GESS_OK) status = put_foot(&o, run, err);
    if (fclose(o.file) != 0 && status == GESS_OK)
        status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", o.path, strerror(errno));
    return status;
}

/* ---- the folder ---- */

/* NUMBER of a name chain-NUMBER.csv; 0 for any other name. */
static size_t number_of(const char *name)
{
    static const char front[] = "chain-", back[] = ".csv";
    char *end;
    if (strncmp(name, front, strlen(front)) != 0 || name[strlen(front)] < '1' || name[strlen(front)] > '9') return 0;
    unsigned long long number = strtoull(name + strlen(front), &end, 10);
    return strcmp(end, back) == 0 ? (size_t)number : 0;
}

/* Counts the files chain-NUMBER.csv with a number above `last`, and removes them if asked to. */
static int count_chains(const char *folder, size_t last, bool remove_them, size_t *found, gess_error *err)
{
    DIR *entries = opendir(folder);
    *found = 0;
    if (entries == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot open the folder %s: %s", folder, strerror(errno));
    int status = GESS_OK;
    for (struct dirent *e = readdir(entries); e != NULL && status == GESS_OK; e = readdir(entries)) {
        if (number_of(e->d_name) <= last) continue;
        ++*found;
        if (remove_them && unlinkat(dirfd(entries), e->d_name, 0) != 0)
            status = gess__fail(err, GESS_ERR_FILE, "cannot remove %s/%s: %s", folder, e->d_name, strerror(errno));
    }
    closedir(entries);
    return status;
}

/* Makes the folder, or accepts one that exists if no file in it is in the way. *made: whether the folder is new. */
static int make_folder(const char *path, bool overwrite, bool *made, gess_error *err)
{
    size_t found;
    *made = mkdir(path, 0777) == 0;
    if (*made) return GESS_OK;
    if (errno != EEXIST) return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", path, strerror(errno));
    struct stat information;
    if (stat(path, &information) != 0 || !S_ISDIR(information.st_mode))
        return gess__fail(err, GESS_ERR_USAGE,
                          "%s is there already and is not a folder; CSV files, one per chain, need one: choose "
                          "another with -o",
                          path);
    GESS_TRY(count_chains(path, 0, false, &found, err));
    if (found == 0 || overwrite) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE,
                      "%s holds %zu files chain-….csv already; choose another with -o, or replace them with "
                      "--overwrite",
                      path, found);
}

/* Writes every file, then renames them all. */
static int write_files(const gess__export *run, const char *folder, gess__partial *partial, gess_error *err)
{
    const gess__reader *d = run->draws;
    double *rows = NULL;
    char *line = NULL, *path = NULL;
    size_t size = strlen(folder) + 40, found;
    int status = gess__alloc_bytes(&rows, (size_t)gess__export_chunk(d, 1) * d->columns, sizeof *rows, "draws", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&line, d->columns, MAX_NUMBER, "a line", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&path, size, 1, "a path", err);
    for (size_t c = 0; c < d->chains && status == GESS_OK; c++) {
        snprintf(path, size, "%s/chain-%zu.csv", folder, c + 1);
        status = gess__partial_begin(&partial[c], path, run->overwrite, err);
        if (status == GESS_OK) status = write_chain(run, c, &partial[c], rows, line, err);
    }
    for (size_t c = 0; c < d->chains && status == GESS_OK; c++) status = gess__partial_commit(&partial[c], err);
    if (status == GESS_OK) status = count_chains(folder, d->chains, true, &found, err); /* left by an earlier export */
    free(path);
    free(line);
    free(rows);
    return status;
}

int gess__export_csv(const gess__export *run, const char *path, gess_error *err)
{
    gess__partial *partial = NULL;
    bool made = false;
    GESS_TRY(make_folder(path, run->overwrite, &made, err));
    GESS_ALLOC(&partial, run->draws->chains, err);
    /* numbers have decimal points, whatever the caller's locale */
    locale_t numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (numbers != (locale_t)0) before = uselocale(numbers);
    int status = write_files(run, path, partial, err);
    if (numbers != (locale_t)0) {
        uselocale(before);
        freelocale(numbers);
    }
    for (size_t c = 0; c < run->draws->chains; c++) gess__partial_end(&partial[c]);
    free(partial);
    if (status != GESS_OK && made) rmdir(path);
    return status;
}
