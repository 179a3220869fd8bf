/* Makes checksums (64-bit FNV-1a) of the files, figures and texts of a run. */
#include "sums.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void check(int status, const char *name, const gess_error *err)
{
    if (status == GESS_OK) return;
    fprintf(stderr, "bits: %s: %s\n", name, err->text);
    exit(1);
}

static uint64_t mix(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * UINT64_C(1099511628211); /* FNV-1a */
    return sum;
}

static const uint64_t start = UINT64_C(14695981039346656037);

/* Of a file, by lines if times and comments are to be left out. */
static uint64_t file_sum(const char *directory, const char *name, int text)
{
    char path[5120], line[4096];
    uint64_t sum = start;
    size_t got;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while (text && fgets(line, sizeof line, file) != NULL)
        if (strstr(line, "\"seconds_") == NULL && line[0] != '#') sum = mix(sum, line, strlen(line));
    while (!text && (got = fread(line, 1, sizeof line, file)) > 0) sum = mix(sum, line, got);
    fclose(file);
    return sum;
}

static uint64_t summary_sum(const gess_summary *summary)
{
    size_t rows = 0;
    uint64_t sum = start;
    if (gess_summary_rows(summary, &rows, NULL) != GESS_OK) exit(1);
    for (size_t row = 0; row < rows; row++) {
        gess_figures figures;
        if (gess_summary_row(summary, row, &figures, sizeof figures, NULL) != GESS_OK) exit(1);
        const double *numbers = &figures.mean;
        size_t count = (offsetof(gess_figures, circular) - offsetof(gess_figures, mean)) / sizeof *numbers;
        for (size_t i = 0; i < count; i++) {
            uint64_t nan = 1; /* there are several */
            sum = numbers[i] == numbers[i] ? mix(sum, &numbers[i], sizeof *numbers) : mix(sum, &nan, sizeof nan);
        }
    }
    return sum;
}

/* Goes on with the text of the verdict, without the names of the directory. */
static uint64_t verdict_sum(uint64_t sum, const gess_summary *summary, const char *directory)
{
    gess_verdict *verdict = NULL;
    char *text = NULL;
    if (gess_verdict_new(&verdict, directory, summary, NULL) != GESS_OK ||
        gess_verdict_text(verdict, GESS_FORMAT_JSON, &text, NULL) != GESS_OK) {
        fprintf(stderr, "bits: %s: no verdict\n", directory);
        exit(1);
    }
    const char *at = text;
    for (const char *next; (next = strstr(at, directory)) != NULL; at = next + strlen(directory))
        sum = mix(sum, at, (size_t)(next - at));
    sum = mix(sum, at, strlen(at));
    gess_text_free(text);
    gess_verdict_free(verdict);
    return sum;
}

/* Of the summary and the draws as CSV, i.e. of how numbers are printed. */
static uint64_t text_sum(const gess_summary *summary, const char *name, const char *directory)
{
    gess_export_result made;
    gess_error err;
    char *text = NULL, path[4200], file[64];
    check(gess_summary_text(summary, GESS_FORMAT_CSV, 0, &text, &err), name, &err);
    uint64_t sum = mix(start, text, strlen(text));
    gess_text_free(text);
    snprintf(path, sizeof path, "%s/csv", directory);
    check(gess_export(directory, "csv", path, 1, &made, sizeof made, &err), name, &err);
    for (size_t chain = 1; chain <= made.chains; chain++) {
        snprintf(file, sizeof file, "chain-%zu.csv", chain);
        uint64_t one = file_sum(path, file, 1);
        sum = mix(sum, &one, sizeof one);
        snprintf(file, sizeof file, "csv/chain-%zu.csv", chain);
        snprintf(path, sizeof path, "%s/%s", directory, file);
        unlink(path);
        snprintf(path, sizeof path, "%s/csv", directory);
    }
    rmdir(path);
    return sum;
}

void print_sums(const char *name, gess_run *run, const char *directory, int evidence)
{
    gess_summary *summary = NULL;
    gess_error err = {0};
    check(gess_summary_new_run(&summary, run, NULL, 0, &err), name, &err);
    printf("%s %016llx %016llx %016llx %016llx", name, (unsigned long long)file_sum(directory, "draws.gess", 0),
           (unsigned long long)file_sum(directory, "history.json", 1),
           (unsigned long long)verdict_sum(summary_sum(summary), summary, directory),
           (unsigned long long)text_sum(summary, name, directory));
    gess_summary_free(summary);
    if (evidence) {
        gess_evidence *result = NULL;
        check(gess_evidence_new(&result, run, NULL, 0, &err), name, &err);
        gess_evidence_free(result);
        printf(" %016llx\n", (unsigned long long)file_sum(directory, "evidence.json", 1));
    } else
        printf(" -\n");
    fflush(stdout);
}

/* ---- what needs no run ---- */

/* Decimals at or beside the middle of two doubles, subnormal ones, and others that wrong parsers have got wrong. */
static const char starts[] = "x1,x2,x3\n"
                             "1.00000000000000011102230246251565404236316680908203124,"
                             "1.00000000000000011102230246251565404236316680908203125,"
                             "1.00000000000000011102230246251565404236316680908203126\n"
                             "1.00000000000000033306690738754696212708950042724609375,9007199254740993e-16,"
                             "0.500000000000000055511151231257827021181583404541015625\n"
                             "2.2250738585072011e-308,2.2250738585072012e-308,6.631236846766476e-316\n"
                             "4.9406564584124654e-324,2.4703282292062328e-324,1e-23\n"
                             "0.1,-0.30000000000000004,8.5e-1\n"
                             "1.7976931348623157,7.2057594037927933e-1,-6.9294956446009195e-17\n";

static const char approx[] = "{\"nu\": 6.000000000000000888178419700125232338905334472656251,\n"
                             " \"mu\": [0.1, 1e-23, -0.500000000000000055511151231257827021181583404541015626],\n"
                             " \"sigma\": [[1.3, 0.2, 0.1], [0.2, 0.9, 0.3], [0.1, 0.3, 1.1]]}\n";

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file != NULL && fputs(text, file) >= 0 && fclose(file) == 0) return;
    perror(path);
    exit(1);
}

void make_inputs(void)
{
    make_file("starts.csv", starts);
    make_file("approx.json", approx);
}

void remove_inputs(void)
{
    unlink("starts.csv");
    unlink("approx.json");
}

static void print_line(const char *name, uint64_t numbers, uint64_t text)
{
    printf("%s %016llx %016llx\n", name, (unsigned long long)numbers, (unsigned long long)text);
    fflush(stdout);
}

static void print_numbers(const char *name)
{
    size_t rows, columns;
    double *values;
    gess_error err;
    check(gess_csv_read("starts.csv", &rows, &columns, &values, &err), name, &err);
    print_line(name, mix(start, values, rows * columns * sizeof *values), rows * columns);
    gess_values_free(values);
}

/* Near normal, by operations that are correctly rounded everywhere. */
static double noise(uint64_t *state)
{
    double sum = -2.0;
    for (int i = 0; i < 4; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

/* A fit to correlated points in units from 1e-3 to 1e3, with heavy tails. With fewer than two points per dimension it
 * is made in the span of their principal axes, i.e. with eigenvectors. */
static void print_fit(const char *name, size_t dim, size_t count)
{
    static const double units[] = {1e-3, 1.0, 1e3, 0.1, 10.0};
    double *points = malloc(count * dim * sizeof *points), *sigma = malloc(dim * dim * sizeof *sigma);
    uint64_t state = dim;
    gess_fit *fit = NULL;
    gess_fit_result result;
    gess_error err;
    char *text;
    if (points == NULL || sigma == NULL) exit(1);
    for (size_t k = 0; k < count; k++) {
        double u = noise(&state), width = 1.0 / (0.3 + u * u), before = 0.0;
        for (size_t i = 0; i < dim; i++) {
            before = 0.7 * before + noise(&state);
            points[k * dim + i] = before * width * units[i % 5];
        }
    }
    check(gess_fit_new(&fit, count, dim, points, &err), name, &err);
    check(gess_fit_info(fit, &result, sizeof result, &err), name, &err);
    check(gess_fit_mu(fit, points, &err), name, &err);
    check(gess_fit_sigma(fit, sigma, &err), name, &err);
    check(gess_fit_text(fit, GESS_FORMAT_JSON, &text, &err), name, &err);
    uint64_t sum = mix(mix(start, points, dim * sizeof *points), sigma, dim * dim * sizeof *sigma);
    sum = mix(mix(sum, &result.nu, sizeof result.nu), &result.loglik, sizeof result.loglik);
    print_line(name, sum, mix(start, text, strlen(text)));
    gess_text_free(text);
    gess_fit_free(fit);
    free(points);
    free(sigma);
}

void print_direct(int (*wanted)(const char *name, char **names), char **names)
{
    static const struct {
        const char *name;
        size_t dim, count;
    } fits[] = {{"fit-1", 1, 40},
                {"fit-7", 7, 300},
                {"fit-60", 60, 1500},
                {"fit-130", 130, 400},
                {"fit-axes", 97, 120}};
    if (wanted("numbers", names)) print_numbers("numbers");
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        if (wanted(fits[i].name, names)) print_fit(fits[i].name, fits[i].dim, fits[i].count);
}
