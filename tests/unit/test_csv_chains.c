/* draws/csv_chains.h: CSV files of CmdStan and of gess's exports, names included, as draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draws/csv_chains.h"
#include "export/registry.h"
#include "readers/draws_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "test_tables-XXXXXX", paths[2][64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return 1;
    for (size_t i = 0; i < 2; i++) snprintf(paths[i], sizeof paths[i], "%s/chain-%zu.csv", folder, i + 1);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) unlink(paths[i]);
    return rmdir(folder);
}

static void save(size_t i, const char *text)
{
    FILE *file = fopen(paths[i], "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int read_files(gess__draws *d, size_t files, gess_error *err)
{
    char *const list[2] = {paths[0], paths[1]};
    return gess__draws_from_tables(d, files, list, err);
}

static void read_good(gess__draws *d, size_t files)
{
    gess_error err = {0};
    if (read_files(d, files, &err) != GESS_OK) fail_msg("%s", err.text);
}

static void read_bad(size_t files, const char *piece)
{
    gess__draws d;
    gess_error err = {0};
    assert_int_equal(read_files(&d, files, &err), GESS_ERR_USAGE);
    if (strstr(err.text, piece) == NULL) fail_msg("'%s' should hold '%s'", err.text, piece);
    gess__draws_free(&d);
}

static const char cmdstan[] =
    "# stan_version_major = 2\n# model = bernoulli_model\n# method = sample (Default)\n"
    "#   sample\n#     num_samples = 3\n#     num_warmup = 4\n#     save_warmup = %s\n"
    "#     thin = 2\n# id = 1\n"
    "lp__,accept_stat__,stepsize__,theta.1,theta.2,energy__,mu\n%s"
    "# Adaptation terminated\n# Step size = 0.9\n# Diagonal elements of inverse mass matrix:\n# 0.5, 1\n"
    "-7,0.9,1,0.25,1,6.9,nan\n-8,0.8,1,0.5,2,7.9,inf\n-9,1,1,0.75,3,8.9,-inf\n"
    "# \n#  Elapsed Time: 0.005 seconds (Warm-up)\n#                0.01 seconds (Sampling)\n# \n";

static void assert_cmdstan(const gess__draws *d)
{
    static const char *const names[] = {"lp__", "theta.1", "theta.2", "mu"};
    static const double first[] = {-7, 0.25, 1, NAN};
    assert_int_equal(d->columns, 4);
    assert_int_equal(d->draws, 3);
    for (size_t j = 0; j < 4; j++) {
        assert_string_equal(d->names[j], names[j]);
        double value = d->values[j * d->chains * 3];
        assert_true(value == first[j] || (isnan(value) && isnan(first[j])));
    }
    assert_true(d->values[(3 * d->chains) * 3 + 2] == -INFINITY);
}

/* Columns of the sampler and rows of a saved warm-up are left out. */
static void of_cmdstan(void **state)
{
    (void)state;
    static const char warmup[] = "-99,0,1,9,9,9,9\n-98,0,1,9,9,9,9\n";
    static const char *const saved[] = {"0", "false", "1", "true", "1 (Default)"};
    char text[2048];
    gess__draws d;
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        snprintf(text, sizeof text, cmdstan, saved[i], i < 2 ? "" : warmup);
        save(0, text);
        save(1, text);
        read_good(&d, 2);
        assert_int_equal(d.chains, 2);
        assert_cmdstan(&d);
        gess__draws_free(&d);
    }
    save(0, "# save_warmup = 1\n# num_warmup = 5\nlp__,x\n1,2\n3,4\n");
    read_bad(1, "the first 5 are warm-up");
    save(0, "a__,b__\n1,2\n");
    read_bad(1, "no column of a model");
    save(0, "1,2\n3,4\n");
    read_bad(1, "no header");
    save(0, "lp__,x\n1,2\n");
    save(1, "lp__,y\n1,2\n");
    read_bad(2, "all chains must have the same");
    save(1, "lp__,x,z\n1,2,3\n");
    read_bad(2, "all chains must have the same");
    save(1, "lp__,step__,x\n1,7,2\n");
    read_good(&d, 2); /* columns that are left out may differ */
    gess__draws_free(&d);
}

/* Names of every kind, NaN, infinities and all digits survive an export. */
static void of_exports(void **state)
{
    (void)state;
    static const char *const names[] = {"lp__", "x",       "=cmd()",         "'=x",      "-a",         "@b",
                                        "\tt",  "a,b",     "say \"hi\"",     "\"",       "two\nlines", "cr\r\nlf",
                                        "#not", " blank ", "</script><img>", "\xc3\xa9", "'quoted'",   "+1"};
    enum { COLUMNS = sizeof names / sizeof *names };
    static const double special[] =
        {NAN, INFINITY, -INFINITY, 0.1, -1e-308, 4.9406564584124654e-324, 1.7976931348623157e308};
    char draws[80];
    snprintf(draws, sizeof draws, "%s/draws.gess", folder);
    gess_error err = {0};
    static double rows[2 * 7 * COLUMNS];
    for (size_t i = 0; i < 14; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            rows[i * COLUMNS + j] = j == 0   ? (double)i
                                    : j == 1 ? special[i % 7]
                                             : 1.0 / (3.0 + (double)(i * COLUMNS + j));
    FILE *w = draws_file_new(draws, 2, COLUMNS, names, 1);
    draws_file_append(w, COLUMNS, 0, 2, 0, 7, rows);
    assert_int_equal(fclose(w), 0);

    gess__reader *r = NULL;
    if (gess__reader_open(&r, draws, &err) != GESS_OK) fail_msg("%s", err.text);
    gess__export run = {.draws = r,
                        .dim = COLUMNS - 1,
                        .model = "a\nb (Total) #",
                        .overwrite = true,
                        .seconds_warmup = NAN};
    if (gess__export_csv(&run, folder, &err) != GESS_OK) fail_msg("%s", err.text);
    gess__reader_free(r);
    unlink(draws);

    gess__draws d;
    read_good(&d, 2);
    assert_int_equal(d.columns, COLUMNS);
    assert_int_equal(d.draws, 7);
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_string_equal(d.names[j], names[j]);
        for (size_t i = 0; i < 14; i++) {
            double value = d.values[j * 14 + i], wanted = rows[i * COLUMNS + j];
            assert_true(value == wanted || (isnan(value) && isnan(wanted)));
        }
    }
    gess__draws_free(&d);

    /* a spreadsheet sees no formula in the file */
    char line[4096];
    FILE *file = fopen(paths[0], "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) assert_null(strstr(line, ",=cmd"));
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_cmdstan), cmocka_unit_test(of_exports)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
