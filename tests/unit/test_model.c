/* model/model.h: specifications of built-in models, their parameters, names and data files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gess_model *open_model(const char *specification)
{
    gess_error err = {0};
    gess_model *model;
    if (gess_model_open(&model, specification, NULL, &err) != GESS_OK) fail_msg("%s: %s", specification, err.text);
    return model;
}

/* Opening must fail with this status, and with both texts in the message. */
static void refuse(const char *specification, int status, const char *piece, const char *other)
{
    gess_error err = {0};
    gess_model *model;
    int got = gess_model_open(&model, specification, NULL, &err);
    assert_null(model);
    if (got != status || err.status != status || strstr(err.text, piece) == NULL || strstr(err.text, other) == NULL)
        fail_msg("%s: status %d, '%s'; expected %d, '%s', '%s'", specification, got, err.text, status, piece, other);
}

static void every_row_opens(void **state)
{
    (void)state;
    size_t count = 0;
    for (; gess__builtin_row(count) != NULL; count++) {
        const gess__builtin *row = gess__builtin_row(count);
        gess_model *model = open_model(row->name);
        assert_true(model->dim >= 1);
        assert_non_null(model->logp);
        assert_true(strlen(row->dimension) > 0 && strlen(row->help) > 0);
        assert_null(strchr(row->help, '\n'));
        /* the number in the dimension's text is the default */
        size_t dim = 0;
        const char *digits = strpbrk(row->dimension, "0123456789");
        assert_non_null(digits);
        assert_int_equal(sscanf(digits, "%zu", &dim), 1);
        assert_int_equal(model->dim, dim);
        gess_model_free(model);
    }
    assert_true(count >= 7);
    assert_null(gess__builtin_row(count + 1));
    gess_model_free(NULL);
}

static void parameters(void **state)
{
    (void)state;
    static const struct {
        const char *specification;
        size_t dim;
    } rows[] = {{"funnel:dim=3", 3},     {"gaussian:dim=4,cor=0.5", 4},  {"gaussian:cor=-0.1,dim=4", 4},
                {"wishart:dim=7", 7},    {"wishart:seed=0,dim=2", 2},    {"banana:curvature=1e-1", 2},
                {"student-t:nu=2.5", 5}, {"german-credit:centre=0", 25}, {"gaussian:dim=1,cor=-1", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gess_model *model = open_model(rows[i].specification);
        assert_int_equal(model->dim, rows[i].dim);
        gess_model_free(model);
    }
}

static void misspelt(void **state)
{
    (void)state;
    refuse("funel", GESS_ERR_USAGE, "unknown model 'funel'", "funnel");
    refuse("funel:dim=3", GESS_ERR_USAGE, "student-t", "`gess models`");
    refuse("", GESS_ERR_USAGE, "unknown model ''", "`gess models`");
    refuse(":dim=3", GESS_ERR_USAGE, "unknown model", "`gess models`");
    refuse("snp:dim=3", GESS_ERR_USAGE, "takes no parameters", "'dim'");
    refuse("gaussian:dims=3", GESS_ERR_USAGE, "no parameter 'dims'", "dim, cor");
    refuse("wishart:dim=3,rank=2", GESS_ERR_USAGE, "no parameter 'rank'", "dim, seed, file");
    refuse("gaussian:dim", GESS_ERR_USAGE, "'dim' is not a parameter", "gaussian:key=value");
    refuse("gaussian:", GESS_ERR_USAGE, "is not a parameter", "key=value");
    refuse("gaussian:dim=", GESS_ERR_USAGE, "is not a parameter", "dim=");
    refuse("gaussian:=3", GESS_ERR_USAGE, "is not a parameter", "=3");
    refuse("gaussian:dim=3,", GESS_ERR_USAGE, "is not a parameter", "");
    refuse("gaussian:dim=3,dim=4", GESS_ERR_USAGE, "given twice", "'dim'");
    refuse("gaussian:a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1", GESS_ERR_USAGE,
           "more than 16", "");
}

static void out_of_range(void **state)
{
    (void)state;
    refuse("gaussian:dim=0", GESS_ERR_USAGE, "dim=0", "from 1 to 10000");
    refuse("gaussian:dim=-3", GESS_ERR_USAGE, "dim=-3", "whole number");
    refuse("gaussian:dim=2.5", GESS_ERR_USAGE, "dim=2.5", "whole number");
    refuse("gaussian:dim=99999999999999999999999999", GESS_ERR_USAGE, "whole number", "");
    refuse("wishart:dim=2001", GESS_ERR_USAGE, "from 1 to 2000", "");
    refuse("gaussian:cor=x", GESS_ERR_USAGE, "cor=x", "is not a number");
    refuse("gaussian:cor=nan", GESS_ERR_USAGE, "cor=nan", "is not a number from -1 to 1");
    refuse("gaussian:dim=3,cor=1", GESS_ERR_USAGE, "no covariance matrix", "above -0.5 and below 1");
    refuse("gaussian:dim=3,cor=-0.5", GESS_ERR_USAGE, "no covariance matrix", "above -0.5 and below 1");
    refuse("student-t:nu=0", GESS_ERR_USAGE, "nu=0", "");
    refuse("banana:dim=1", GESS_ERR_USAGE, "dim=1", "from 2");
    refuse("german-credit:centre=2", GESS_ERR_USAGE, "centre=2", "from 0 to 1");
    refuse("wishart:file=a.csv,dim=3", GESS_ERR_USAGE, "file=", "dim=");
}

/* ---- names ---- */

static void names(void **state)
{
    (void)state;
    char buffer[32];
    gess_model *model = open_model("funnel");
    assert_string_equal(gess__parameter_name(model, 0, buffer), "v");
    assert_string_equal(gess__parameter_name(model, 1, buffer), "x1");
    assert_string_equal(gess__parameter_name(model, 9, buffer), "x9");
    gess_model_free(model);

    model = open_model("gaussian:dim=12");
    assert_string_equal(gess__parameter_name(model, 0, buffer), "x1");
    assert_string_equal(gess__parameter_name(model, 11, buffer), "x12");
    gess_model_free(model);

    model = open_model("german-credit");
    assert_string_equal(gess__parameter_name(model, 0, buffer), "intercept");
    assert_string_equal(gess__parameter_name(model, 1, buffer), "a1");
    assert_string_equal(gess__parameter_name(model, 24, buffer), "a24");
    gess_model_free(model);
}

/* ---- data files ---- */

static char folder[] = "test_model-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    unsetenv("GESS_DATA");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void write_file(const char *name, const char *text, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void data_path(void **state)
{
    (void)state;
    gess_error err = {0};
    char path[4096], user_file[256], small[8];
    assert_int_equal(gess__data_path("german_credit.csv", path, sizeof path, &err), GESS_OK);
    assert_non_null(strstr(path, "/german_credit.csv"));

    /* the user's folder comes first; files that it does not have are found in the others */
    write_file("german_credit.csv", "b,class\n1,1\n2,2\n4,1\n", user_file);
    setenv("GESS_DATA", folder, 1);
    assert_int_equal(gess__data_path("german_credit.csv", path, sizeof path, &err), GESS_OK);
    assert_string_equal(path, user_file);
    assert_int_equal(gess__data_path("mixture_means.csv", path, sizeof path, &err), GESS_OK);
    gess_model *model = open_model("german-credit");
    char buffer[32];
    assert_int_equal(model->dim, 2);
    assert_string_equal(gess__parameter_name(model, 1, buffer), "b");
    gess_model_free(model);

    assert_int_equal(gess__data_path("nowhere.csv", path, sizeof path, &err), GESS_ERR_MODEL);
    assert_non_null(strstr(err.text, "nowhere.csv"));
    assert_non_null(strstr(err.text, folder));
    assert_non_null(strstr(err.text, "GESS_DATA"));
    assert_int_equal(gess__data_path("german_credit.csv", small, sizeof small, &err), GESS_ERR_MODEL);

    write_file("german_credit.csv", "b,class\n1,1\nx,2\n", user_file);
    refuse("german-credit", GESS_ERR_MODEL, "line 3, column 1", "german_credit.csv");
    write_file("german_credit.csv", "b,class\n1,1\n1,2\n", user_file);
    refuse("german-credit", GESS_ERR_MODEL, "column 1", "all equal");
    write_file("german_credit.csv", "1,1\n2,2\n", user_file);
    refuse("german-credit", GESS_ERR_MODEL, "german_credit.csv", "names of the columns");
    write_file("german_credit.csv", "class\n1\n", user_file);
    refuse("german-credit", GESS_ERR_MODEL, "1 columns", "");
    unsetenv("GESS_DATA");
    assert_int_equal(unlink(user_file), 0);
}

static void precision_files(void **state)
{
    (void)state;
    char path[256], specification[300];
    write_file("precision.csv", "2,1\n1,3\n", path);
    snprintf(specification, sizeof specification, "wishart:file=%s", path);
    gess_model *model = open_model(specification);
    assert_int_equal(model->dim, 2);
    gess_model_free(model);

    write_file("precision.csv", "2,1\n1,3\n4,4\n", path);
    refuse(specification, GESS_ERR_MODEL, "3 rows and 2 columns", "square");
    write_file("precision.csv", "2,1\n1.5,3\n", path);
    refuse(specification, GESS_ERR_MODEL, "row 2, column 1 is 1.5", "symmetric");
    write_file("precision.csv", "2,nan\nnan,3\n", path);
    refuse(specification, GESS_ERR_MODEL, "row 2, column 1", "symmetric");
    write_file("precision.csv", "inf,0\n0,3\n", path);
    refuse(specification, GESS_ERR_MODEL, "row 1, column 1", "finite");
    write_file("precision.csv", "1,2\n2,1\n", path);
    refuse(specification, GESS_ERR_MODEL, "not positive definite", "pivot 2");
    write_file("precision.csv", "1,2\n2\n", path);
    refuse(specification, GESS_ERR_MODEL, "line 2", "precision.csv");
    assert_int_equal(unlink(path), 0);
    refuse(specification, GESS_ERR_MODEL, "cannot open", "precision.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_opens), cmocka_unit_test(parameters), cmocka_unit_test(misspelt),
        cmocka_unit_test(out_of_range),    cmocka_unit_test(names),      cmocka_unit_test(data_path),
        cmocka_unit_test(precision_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
