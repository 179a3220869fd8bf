/* The rules of the verdict on separate modes: chains alone, from synthetic draws; basins, peaks and modes, from
 * hand-made histories; and where the note on R-hat appears. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHAINS = 24, DRAWS = 200, COLUMNS = 4 };

static uint64_t state;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static char *names[COLUMNS] = {"lp__", "a", "b", "c"};
static double values[COLUMNS * CHAINS * DRAWS];
static gess__draws draws = {CHAINS, COLUMNS, DRAWS, 1, names, values, NULL};

static double *chain(size_t column, size_t c)
{
    return values + (column * CHAINS + c) * DRAWS;
}

/* Independent standard normals and their log density. */
static void fill(uint64_t seed)
{
    state = seed * 2654435761u + 88172645463325252u;
    for (size_t k = 0; k < CHAINS * DRAWS; k++) {
        values[k] = 0.0;
        for (size_t j = 1; j < COLUMNS; j++) {
            double x = normal();
            values[j * CHAINS * DRAWS + k] = x;
            values[k] -= 0.5 * x * x;
        }
    }
}

/* ---- verdicts of the draws and of a directory with this history, "" for none ---- */

static char directory[] = "test_mode_rules-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static int make_directory(void **unused)
{
    (void)unused;
    return mkdtemp(directory) == NULL;
}

static int remove_directory(void **unused)
{
    (void)unused;
    write_file("history.json", "");
    write_file("config.json", "");
    if (chdir(directory) != 0) return 1;
    int bad = unlink("history.json") != 0 || unlink("config.json") != 0 || chdir("..") != 0;
    return bad || rmdir(directory) != 0;
}

static void judge(gess__verdict *v, gess__summary *s, const char *history)
{
    gess_error err = {0};
    write_file("history.json", history);
    write_file("config.json", "{\"options\": {\"schedule\": \"auto\", \"warmup\": \"auto\"}}");
    assert_int_equal(gess__summarise(s, &draws, &err), GESS_OK);
    assert_int_equal(gess__judge_run(v, s, directory, &err), GESS_OK);
}

static const gess__finding *find(const gess__verdict *v, const char *code)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->findings[i].code, code) == 0) return &v->findings[i];
    return NULL;
}

/* Checks that there is a finding of this level that has `what` in its text. */
static void assert_found(const char *history, int level, const char *code, const char *what)
{
    gess__verdict v;
    gess__summary s;
    judge(&v, &s, history);
    const gess__finding *f = find(&v, code);
    if (f == NULL || f->level != level || strstr(f->text, what) == NULL)
        fail_msg("%s: %s", code, f == NULL ? "not found" : f->text);
    assert_true(strlen(f->advice) > 0);
    assert_int_equal(v.pass, level < GESS__FAILURE);
    gess__verdict_free(&v);
    gess__summary_free(&s);
}

static void assert_silent(const char *history, const char *code)
{
    gess__verdict v;
    gess__summary s;
    judge(&v, &s, history);
    const gess__finding *f = find(&v, code);
    if (f != NULL) fail_msg("%s: %s", code, f->text);
    gess__verdict_free(&v);
    gess__summary_free(&s);
}

/* ---- a chain alone ---- */

static void the_highest_draws(void **unused)
{
    (void)unused;
    gess__summary s;
    gess_error err = {0};
    fill(1);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++) chain(0, c)[i] = (double)(c * DRAWS + i);
    chain(0, 3)[7] = 10000.0; /* in two chains of 24, three draws above all others */
    chain(0, 3)[8] = 9000.0;
    chain(0, 5)[9] = 8000.0;
    chain(1, 3)[7] = 0.25;
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    assert_true(s.top.highest == 10000.0 && s.top.chain == 3 && s.top.draw == 7);
    assert_int_equal(s.top.few, 2);
    assert_int_equal(s.top.above, 3);
    assert_true(s.top.others == CHAINS * DRAWS - 1 && s.top.gap == 8000.0 - (CHAINS * DRAWS - 1));
    /* 22 chains of 200 draws: the highest 44 are 22.5 above the 45th on average */
    assert_true(fabs(s.top.excess - 22.5) < 1e-9);
    assert_true(s.top.excess_all > s.top.excess);
    assert_true(s.figures[0].at_top == 0.25 && s.figures[3].at_top == 10000.0);
    gess__summary_sort(&s);
    for (size_t i = 0; i < s.count; i++)
        if (strcmp(s.names[i], "a") == 0) assert_true(s.figures[i].at_top == 0.25);
    gess__summary_free(&s);
}

static void one_high_draw(void **unused)
{
    (void)unused;
    fill(2);
    assert_silent("{}", "lone-chain");
    chain(0, 17)[DRAWS - 1] = 8.0;
    chain(1, 17)[DRAWS - 1] = 0.7;
    chain(2, 17)[DRAWS - 1] = -0.6;
    assert_found("{}", GESS__FAILURE, "lone-chain", "Chain 18 alone");
    assert_found("{}", GESS__FAILURE, "lone-chain", "8 in draw 200, at a = 0.7, b = -0.6, c = ");
    assert_found("{}", GESS__FAILURE, "lone-chain", "has 1 of its 200 draws above");
    for (size_t i = 50; i < 60; i++) chain(0, 4)[i] = 8.5;
    assert_found("{}", GESS__FAILURE, "lone-chain", "2 of 24 chains alone");
    chain(0, 20)[0] = 8.5;
    chain(0, 21)[0] = 8.5; /* now more than every eighth chain has been there */
    assert_silent("{}", "lone-chain");
}

/* Log densities with upper tails of many shapes, of chains that are all alike. */
static void tails_raise_no_alarm(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 100; seed++)
        for (int shape = 0; shape < 4; shape++) {
            fill(100 + seed);
            for (size_t k = 0; k < CHAINS * DRAWS; k++) {
                double x = normal();
                const double lp[] = {x, -log(uniform()) * 9.0, -log(uniform()) * -log(uniform()), floor(x)};
                values[k] = lp[shape];
            }
            assert_silent("{}", "lone-chain");
        }
}

static void a_place_of_its_own(void **unused)
{
    (void)unused;
    fill(3);
    for (size_t i = 0; i < DRAWS; i++) chain(2, 9)[i] = 0.7 + 0.01 * normal();
    assert_found("{}", GESS__FAILURE, "lone-chain", "Chain 10 alone stays in a small part");
    fill(4);
    for (size_t i = 0; i < DRAWS; i++) chain(3, 23)[i] = 2.5 + 0.5 * normal();
    assert_found("{}", GESS__FAILURE, "lone-chain", "Chain 24 alone is in another place: its mean in c is");
    fill(4);
    for (size_t i = 0; i < DRAWS / 4; i++) chain(3, 23)[i] = 2.0 + normal(); /* it was there for a while */
    assert_silent("{}", "lone-chain");
}

/* ---- histories ---- */

#define BASIN(centre, starts, weight, error, fate)                                                             \
    "{\"centre\": " centre ", \"lp\": -3.5, \"starts\": " starts ", \"log_weight\": null, \"weight\": " weight \
    ", \"error\": " error ", \"fate\": \"" fate "\"}"
#define BASINS(list) \
    "\"exploration\": {\"route\": \"direct\", \"evals\": 900, \"basins\": [" list "], \"spread\": [[24]]}"
#define MODE(centre, weight, error, chains) \
    "{\"centre\": " centre ", \"sd\": [1, 1, 1], \"weight\": " weight ", \"error\": " error ", \"chains\": " chains "}"

static void basins(void **unused)
{
    (void)unused;
    static const char kept[] = "{" BASINS(BASIN("[0, 0, 0]", "24", "1", "0", "kept")) "}",
                      lost[] = "{" BASINS(
                          BASIN("[0, 0, 0]", "14", "null", "null",
                                "kept") ", " BASIN("[20, -5, 1]", "3", "null", "null",
                                                   "lost") ", " BASIN("[9, 9, 9]", "7", "0.02", "0.01", "lost")) "}",
                      given_up[] =
                          "{" BASINS(BASIN("[0, 0, 0]", "20", "1", "0", "kept") ", " BASIN("[20, -5, 1]", "4", "2e-6",
                                                                                           "1e-6", "given up")) "}",
                      merged[] = "{" BASINS(BASIN("[0, 0, 0]", "20", "1", "0",
                                                  "kept") ", " BASIN("[1, 0, 0]", "4", "null", "null", "merged")) "}";
    fill(5);
    assert_silent(kept, "basin-lost");
    assert_silent(kept, "basin-given-up");
    assert_silent(kept, "unweighed");
    assert_silent("{\"exploration\": {\"route\": \"annealed\", \"unweighed\": false, \"basins\": []}}", "unweighed");
    assert_found("{\"exploration\": {\"route\": \"direct\", \"unweighed\": true, \"basins\": []}}", GESS__FAILURE,
                 "unweighed", "found separate modes but did not weigh them");
    assert_found(lost, GESS__FAILURE, "basin-lost", "2 of 3 basins");
    assert_found(lost, GESS__FAILURE, "basin-lost",
                 "(7): centre a = 9, b = 9, c = 9, log density -3.5, weight 0.02 ± 0.01");
    assert_silent(given_up, "basin-lost");
    assert_found(given_up, GESS__NOTE, "basin-given-up", "1 of 2 basins that warm-up found was given up");
    assert_found(given_up, GESS__NOTE, "basin-given-up",
                 "a = 20, b = -5, c = 1, log density -3.5, weight 2e-06 ± 1e-06");
    assert_silent(merged, "basin-lost");
    assert_silent(merged, "basin-given-up");
    /* R-hat sees enough where exploration found one basin, and its note stays where nothing was explored */
    assert_silent(kept, "r-hat-blind");
    assert_silent(merged, "r-hat-blind");
    assert_found(given_up, GESS__NOTE, "r-hat-blind", "shared one warm-up");
    assert_found("{}", GESS__NOTE, "r-hat-blind", "shared one warm-up");
    assert_found("{\"exploration\": {}}", GESS__NOTE, "r-hat-blind", "shared one warm-up");
}

static void peaks(void **unused)
{
    (void)unused;
    fill(6);
    assert_found("{\"peak\": {\"lp\": 9, \"point\": [0.7, 0.7, 0.7], \"mass\": 0.5}}", GESS__FAILURE, "peak",
                 "log density of 9, ");
    assert_found("{\"peak\": {\"lp\": 9, \"point\": [0.7, 0.7, 0.7], \"mass\": 0.5}}", GESS__FAILURE, "peak",
                 "a = 0.7, b = 0.7, c = 0.7; about 0.5 of the probability");
    assert_silent("{\"peak\": {\"lp\": 9, \"point\": [0.7, 0.7, 0.7], \"mass\": 0.0009}}", "peak");
    assert_found("{\"peak\": {\"lp\": 9, \"point\": [0.7, 0.7, 0.7], \"mass\": null}}", GESS__FAILURE, "peak",
                 "is not known");
    /* the maximum of this very density */
    assert_silent("{\"peak\": {\"lp\": 0, \"point\": [0, 0, 0], \"mass\": null}}", "peak");
    /* as high as a peak of the same mass that is twice as narrow: 3 log 2 */
    assert_silent("{\"peak\": {\"lp\": 2.08, \"point\": [0, 0, 0], \"mass\": null}}", "peak");
    /* in a normal distribution of 500 dimensions the maximum is 250 nats above the draws */
    char many[3000] = "{\"peak\": {\"lp\": 250, \"mass\": null, \"point\": [0";
    for (size_t i = 1; i < 500; i++) strcat(many, ", 0");
    strcat(many, "]}}");
    assert_silent(many, "peak");
}

static void modes(void **unused)
{
    (void)unused;
    static const char mixed[] =
        "{\"modes\": [" MODE("[0, 5, -5]", "0.1", "0.01",
                             "23") ", " MODE("[0, 5, 20]", "0.9", "0.01",
                                             "24") "], " BASINS(BASIN("[0, 5, -5]", "12", "0.1", "0",
                                                                      "kept") ", " BASIN("[0, 5, 20]", "12", "0.9", "0",
                                                                                         "kept")) "}",
                      alone[] = "{\"modes\": [" MODE("[0, 0, 0]", "0.99", "0.01", "24") ", " MODE("[0, 4, 20]", "0.01",
                                                                                                  "0.01", "1") "]}",
                      tiny[] = "{\"modes\": [" MODE("[0, 0, 0]", "0.998", "0.001",
                                                    "24") ", " MODE("[0, 4, 20]", "0.002", "0.001", "1") "]}",
                      stay[] = "{\"modes\": [" MODE("[0, 0, 0]", "0.83", "0.01", "20") ", " MODE("[0, 4, 20]", "0.17",
                                                                                                 "null", "4") "]}",
                      pass[] = "{\"modes\": [" MODE("[0, 0, 0]", "0.83", "0.01", "23") ", " MODE("[0, 4, 20]", "0.17",
                                                                                                 "0.01", "4") "]}",
                      one[] = "{\"modes\": [" MODE("[0, 0, 0]", "1", "0", "1") "]}";
    fill(7);
    assert_silent(mixed, "mode-alone");
    assert_found(mixed, GESS__NOTE, "modes-found", "2 modes. Weights and centres: 0.900 ± 0.010 at c = 20; ");
    assert_found(mixed, GESS__NOTE, "modes-found", "; 0.100 ± 0.010 at c = -5.");
    assert_silent(mixed, "r-hat-blind");
    assert_found(alone, GESS__FAILURE, "mode-alone",
                 "Only 1 of 24 chains visited the mode around a = 0, b = 4, c = 20, weight 0.01");
    assert_found(alone, GESS__FAILURE, "mode-alone", "weight 0.01 ± 0.01");
    assert_silent(tiny, "mode-alone");
    assert_found(stay, GESS__FAILURE, "mode-alone", "Only 4 of 24");
    assert_found(stay, GESS__FAILURE, "mode-alone", "no chain visited more than one");
    assert_silent(pass, "mode-alone");
    assert_silent(one, "mode-alone");
    assert_silent(one, "modes-found");
}

/* The ten heaviest modes, in order, and the parameters in which they differ most. */
static void table_of_modes(void **unused)
{
    (void)unused;
    char history[4000] = "{\"modes\": [";
    for (int i = 0; i < 14; i++)
        snprintf(history + strlen(history), sizeof history - strlen(history),
                 "%s{\"centre\": [%d, 0, %d], \"sd\": [1, 1, 0.1], \"weight\": %.3f, \"error\": null, \"chains\": 24}",
                 i > 0 ? ", " : "", i, 2 * i, 0.01 * ((i * 5) % 14 + 1));
    strcat(history, ", {\"weight\": \"heavy\"}]}");
    gess__verdict v;
    gess__summary s;
    fill(8);
    judge(&v, &s, history);
    json_t *root = gess__verdict_json(&v, &s), *table = json_object_get(root, "modes");
    const json_t *list = json_object_get(table, "list"), *parameters = json_object_get(table, "parameters");
    assert_int_equal(json_array_size(list), 10);
    for (size_t i = 0; i < 10; i++) {
        const json_t *mode = json_array_get(list, i);
        assert_true(fabs(json_real_value(json_object_get(mode, "weight")) - 0.01 * (14.0 - (double)i)) < 1e-9);
        assert_true(json_is_null(json_object_get(mode, "error")));
        double c = json_real_value(json_array_get(json_object_get(mode, "centre"), 0)),
               a = json_real_value(json_array_get(json_object_get(mode, "centre"), 1));
        assert_true(c == 2.0 * a);
    }
    assert_string_equal(json_string_value(json_array_get(parameters, 0)), "c");
    assert_string_equal(json_string_value(json_array_get(parameters, 1)), "a");
    assert_int_equal(json_array_size(parameters), 2); /* b is the same in all modes */
    assert_non_null(find(&v, "modes-found"));
    json_decref(root);
    gess__verdict_free(&v);
    gess__summary_free(&s);
    judge(&v, &s, "{}");
    root = gess__verdict_json(&v, &s);
    assert_null(json_object_get(root, "modes"));
    json_decref(root);
    gess__verdict_free(&v);
    gess__summary_free(&s);
}

/* Values of the wrong type are like values that are missing. */
/* T was too light in a tail when sampling began. */
static void light_tails(void **unused)
{
    (void)unused;
    fill(12);
    assert_found("{\"delta\": {\"tail_excess\": 1.6}}", GESS__WARNING, "light-tails", "1.6 nats");
    assert_silent("{\"delta\": {\"tail_excess\": 0.9}}", "light-tails");
    assert_silent("{\"delta\": {\"tail_excess\": null}}", "light-tails");
    assert_silent("{\"delta\": []}", "light-tails");
    assert_silent("{}", "light-tails");
}

static void damaged_histories(void **unused)
{
    (void)unused;
    static const char *const damaged[] =
        {"{\"modes\": 3, \"peak\": [], \"exploration\": \"no\"}",
         "{\"modes\": [1, null, {\"weight\": 0.4, \"centre\": {}}, {\"weight\": 0.6, \"centre\": 5, \"chains\": []}]}",
         "{\"exploration\": {\"basins\": [7, {\"fate\": 3}, {\"fate\": \"kept\", \"centre\": [null]}]}}",
         "{\"peak\": {\"lp\": \"high\", \"point\": null, \"mass\": true}}"};
    fill(9);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        assert_silent(damaged[i], "peak");
        assert_silent(damaged[i], "mode-alone");
        assert_silent(damaged[i], "basin-lost");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_draws),
        cmocka_unit_test(one_high_draw),
        cmocka_unit_test(tails_raise_no_alarm),
        cmocka_unit_test(a_place_of_its_own),
        cmocka_unit_test(basins),
        cmocka_unit_test(peaks),
        cmocka_unit_test(modes),
        cmocka_unit_test(table_of_modes),
        cmocka_unit_test(light_tails),
        cmocka_unit_test(damaged_histories),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
