/* The public functions that the command uses beside those for runs and draws: config.json, processes, tables, and runs
 * that were killed before their first checkpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gess/draws.h>
#include <gess/gess.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/gess-client-XXXXXX";

static void path_of(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", folder, name);
}

/* A short run of a built-in model in the folder `name`. */
static void make_run(const char *name, const char *draws)
{
    char directory[256];
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    path_of(directory, name);
    assert_int_equal(gess_model_open(&model, "gaussian:dim=2", NULL, NULL), GESS_OK);
    assert_int_equal(gess_options_new(&options, NULL), GESS_OK);
    assert_int_equal(gess_options_set(options, "warmup", "20", NULL), GESS_OK);
    assert_int_equal(gess_options_set(options, "draws", draws, NULL), GESS_OK);
    assert_int_equal(gess_options_set(options, "max-time", "3600", NULL), GESS_OK);
    assert_int_equal(gess_run_new(&run, model, options, directory, NULL), GESS_OK);
    assert_int_equal(gess_run_go(run, NULL), GESS_OK);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
}

/* Resumes it with the options of config.json and, unless it is NULL, another number of draws. */
static gess_stats resume(const char *name, const char *draws)
{
    char directory[256], config[300], specification[256];
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    gess_stats stats;
    path_of(directory, name);
    snprintf(config, sizeof config, "%s/config.json", directory);
    assert_int_equal(gess_options_read(&options, config, specification, sizeof specification, NULL), GESS_OK);
    if (draws != NULL) assert_int_equal(gess_options_set(options, "draws", draws, NULL), GESS_OK);
    assert_int_equal(gess_model_open(&model, specification, NULL, NULL), GESS_OK);
    assert_int_equal(gess_run_resume(&run, model, options, directory, NULL), GESS_OK);
    assert_int_equal(gess_run_go(run, NULL), GESS_OK);
    assert_int_equal(gess_run_stats(run, &stats, sizeof stats, NULL), GESS_OK);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
    return stats;
}

static void option_of(const char *name, const char *option, char *value, size_t size)
{
    char config[300], directory[256], model[256];
    gess_options *options = NULL;
    path_of(directory, name);
    snprintf(config, sizeof config, "%s/config.json", directory);
    assert_int_equal(gess_options_read(&options, config, model, sizeof model, NULL), GESS_OK);
    assert_int_equal(gess_options_get(options, option, value, size, NULL), GESS_OK);
    gess_options_free(options);
}

static void begins_again_without_checkpoint(void **state)
{
    char path[256];
    (void)state;
    make_run("killed", "30");
    path_of(path, "killed/checkpoint");
    unlink(path);
    path_of(path, "killed/checkpoint.old");
    unlink(path);
    gess_stats stats = resume("killed", NULL);
    assert_int_equal(stats.draws, 30);
    assert_true(stats.finished);
}

static void stores_the_draws_only(void **state)
{
    char value[64];
    (void)state;
    make_run("extended", "30");
    assert_int_equal(resume("extended", "40").draws, 40);
    option_of("extended", "draws", value, sizeof value);
    assert_string_equal(value, "40");
    option_of("extended", "max-time", value, sizeof value);
    assert_string_equal(value, "3600");
}

static void finds_an_edited_config(void **state)
{
    char path[256], text[512] = "x";
    gess_error err;
    (void)state;
    make_run("edited", "10");
    path_of(path, "edited/config.json");
    assert_int_equal(gess_config_check(path, text, sizeof text, &err), GESS_OK);
    assert_string_equal(text, "");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"gess\": \"0.0.1\", \"model\": \"gaussian\", \"options\": {}, \"checksum\": \"0\"}\n", file);
    fclose(file);
    assert_int_equal(gess_config_check(path, text, sizeof text, &err), GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "edited or damaged"));
    assert_int_equal(gess_config_check(folder, text, sizeof text, &err), GESS_ERR_FILE);
}

static int answer(void *data, gess_error *err)
{
    (void)err;
    ++*(int *)data;
    return GESS_ERR_MODEL;
}

static void one_process_joins_nobody(void **state)
{
    int rank = 9, size = 9, calls = 0;
    gess_comm *comm = NULL;
    (void)state;
    assert_int_equal(gess_comm_launched(&rank, &size, NULL), GESS_OK);
    assert_int_equal(rank, 0);
    assert_int_equal(size, 1);
    assert_int_equal(gess_comm_join(&comm, NULL), GESS_OK);
    assert_null(comm);
    assert_int_equal(gess_comm_call(NULL, answer, &calls, NULL), GESS_ERR_MODEL);
    assert_int_equal(calls, 1);
    gess_comm_leave(NULL, GESS_OK, NULL);
}

static void reads_the_launcher(void **state)
{
    int rank, size;
    (void)state;
    setenv("PMI_SIZE", "4", 1);
    setenv("PMI_RANK", "3", 1);
    assert_int_equal(gess_comm_launched(&rank, &size, NULL), GESS_OK);
    assert_int_equal(rank, 3);
    assert_int_equal(size, 4);
    unsetenv("PMI_SIZE");
    unsetenv("PMI_RANK");
}

static void reads_a_table(void **state)
{
    char path[256];
    size_t rows = 0, columns = 0;
    double *values = NULL;
    (void)state;
    path_of(path, "table.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b,c\n1,2,3\n4,5,inf\n", file);
    fclose(file);
    assert_int_equal(gess_csv_read(path, &rows, &columns, &values, NULL), GESS_OK);
    assert_int_equal(rows, 2);
    assert_int_equal(columns, 3);
    assert_true(values[3] == 4.0);
    gess_values_free(values);
    assert_int_not_equal(gess_csv_read(folder, &rows, &columns, &values, NULL), GESS_OK);
    assert_null(values);
}

#define NAMES_NULL(call, argument)                                   \
    do {                                                             \
        gess_error err = {0};                                        \
        assert_int_equal(call, GESS_ERR_USAGE);                      \
        assert_non_null(strstr(err.text, "`" argument "` is NULL")); \
    } while (0)

static void null_is_named(void **state)
{
    int n = 0;
    size_t count = 0;
    char text[16];
    double *values = NULL;
    gess_comm *comm = NULL;
    (void)state;
    NAMES_NULL(gess_build(NULL, 8, &err), "info");
    NAMES_NULL(gess_config_check(NULL, text, sizeof text, &err), "path");
    NAMES_NULL(gess_config_check("x", NULL, 0, &err), "text");
    NAMES_NULL(gess_comm_launched(NULL, &n, &err), "rank");
    NAMES_NULL(gess_comm_launched(&n, NULL, &err), "size");
    NAMES_NULL(gess_comm_join(NULL, &err), "comm");
    NAMES_NULL(gess_comm_info(comm, &n, &n, &err), "comm");
    NAMES_NULL(gess_comm_call(NULL, NULL, NULL, &err), "body");
    NAMES_NULL(gess_comm_library(NULL, 0, &err), "path");
    NAMES_NULL(gess_run_max_time(NULL, 1.0, &err), "run");
    NAMES_NULL(gess_csv_read(NULL, &count, &count, &values, &err), "path");
    NAMES_NULL(gess_csv_read("x", NULL, &count, &values, &err), "rows");
    NAMES_NULL(gess_csv_read("x", &count, NULL, &values, &err), "columns");
    NAMES_NULL(gess_csv_read("x", &count, &count, NULL, &err), "values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_again_without_checkpoint),
        cmocka_unit_test(stores_the_draws_only),
        cmocka_unit_test(finds_an_edited_config),
        cmocka_unit_test(one_process_joins_nobody),
        cmocka_unit_test(reads_the_launcher),
        cmocka_unit_test(reads_a_table),
        cmocka_unit_test(null_is_named),
    };
    if (mkdtemp(folder) == NULL) return 1;
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 ? 1 : failures;
}
