/* Summaries and verdicts of synthetic draws: which findings must be there and which must not, and that the order in
 * which columns arrive does not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/folder.h"
#include "draws/writer.h"
#include "report/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHAINS = 20, DRAWS = 600, COLUMNS = 3 };

static uint64_t state = 88172645463325252u;

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

static char *names[COLUMNS] = {"lp__", "a", "b[1,2]"};
static double values[COLUMNS * CHAINS * DRAWS];
static gess__draws draws = {CHAINS, COLUMNS, DRAWS, 1, names, values, NULL};

/* Columns of autoregressions with sd 1, which mix well. */
static void fill(uint64_t seed)
{
    state = seed * 2654435761u + 88172645463325252u;
    for (size_t line = 0; line < COLUMNS * CHAINS; line++) {
        double x = normal();
        for (size_t i = 0; i < DRAWS; i++) {
            x = 0.5 * x + sqrt(0.75) * normal();
            values[line * DRAWS + i] = x;
        }
    }
}

static double *chain(size_t column, size_t c)
{
    return values + (column * CHAINS + c) * DRAWS;
}

static void judge(gess__verdict *v)
{
    gess__summary s;
    gess_error err = {0};
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    assert_int_equal(gess__judge_run(v, &s, "/nonexistent", &err), GESS_OK);
    gess__summary_free(&s);
}

static const gess__finding *find(const gess__verdict *v, const char *code)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->findings[i].code, code) == 0) return &v->findings[i];
    return NULL;
}

/* Checks that the verdict is a failure, and that this finding is among the failures and names `what`. */
static void assert_fails(const char *code, const char *what)
{
    gess__verdict v;
    judge(&v);
    const gess__finding *f = find(&v, code);
    assert_false(v.pass);
    if (f == NULL || f->level != GESS__FAILURE || strstr(f->text, what) == NULL)
        fail_msg("%s: %s", code, f == NULL ? "not found" : f->text);
    assert_true(strlen(f->advice) > 0);
    for (size_t i = 1; i < v.count; i++) assert_true(v.findings[i - 1].level >= v.findings[i].level);
    gess__verdict_free(&v);
}

static void good_draws_pass(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        gess__verdict v;
        fill(seed);
        if (seed > 20) /* no mean and no variance exist, and still no chain is stuck or elsewhere */
            for (size_t i = 0; i < CHAINS * DRAWS; i++) values[CHAINS * DRAWS + i] = normal() / normal();
        if (seed > 25) /* ties */
            for (size_t i = 0; i < CHAINS * DRAWS; i++)
                values[2 * CHAINS * DRAWS + i] = floor(values[2 * CHAINS * DRAWS + i]);
        judge(&v);
        if (!v.pass || find(&v, "drift") != NULL || find(&v, "modes") != NULL || find(&v, "stuck") != NULL)
            fail_msg("seed %llu: %s", (unsigned long long)seed, v.findings[0].text);
        gess__verdict_free(&v);
    }
}

static void a_stuck_chain(void **unused)
{
    (void)unused;
    fill(1);
    for (size_t i = 0; i < DRAWS; i++) chain(1, 7)[i] = 0.25;
    assert_fails("stuck", "1 of 20 chains never moved in a (chain 8");
    for (size_t i = 0; i < DRAWS; i++) chain(1, 7)[i] = 3.0 + 1e-6 * normal();
    assert_fails("stuck", "1 of 20 chains hardly moved in a: chain 8");
}

static void modes_never_joined(void **unused)
{
    (void)unused;
    fill(2);
    for (size_t c = 0; c < CHAINS; c += 2)
        for (size_t i = 0; i < DRAWS; i++) chain(2, c)[i] += 30.0;
    assert_fails("modes", "b[1,2]: 10 around");
    assert_fails("r-hat", "b[1,2]");
    fill(3);
    for (size_t i = 0; i < DRAWS; i++) chain(1, 4)[i] += 12.0;
    assert_fails("modes", "(chain 5 is one of the latter)");
}

/* Judges with a config.json, and returns the advice of the first finding, which must be `code`; the caller frees it. */
static char *advice_with_config(const char *text, const char *code)
{
    char folder[] = "test_verdict's-XXXXXX", path[64];
    gess__summary s;
    gess__verdict v;
    gess_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%s//", folder);
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    assert_int_equal(gess__judge_run(&v, &s, path, &err), GESS_OK);
    assert_string_equal(v.findings[0].code, code);
    char *advice = strdup(v.findings[0].advice);
    gess__verdict_free(&v);
    gess__summary_free(&s);
    snprintf(path, sizeof path, "%s/config.json", folder);
    unlink(path);
    rmdir(folder);
    return advice;
}

static void levels_far_apart(void **unused)
{
    (void)unused;
    gess__verdict v;
    fill(12);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++) {
            chain(0, c)[i] -= 30.0;
            if (c == 2 || c > 15) chain(0, c)[i] -= 250.0;
            if (c == 5 && i < DRAWS / 3) chain(0, c)[i] -= 250.0; /* it arrives early enough */
        }
    assert_fails("far-apart", "15 of 20 chains (1, 2, 4-16) are around lp__ = -2");
    assert_fails("far-apart", "and 5 are 250");
    /* only lp__ counts, and not by less than 100 nats */
    fill(13);
    for (size_t i = 0; i < DRAWS; i++) {
        chain(1, 3)[i] += 500.0;
        chain(0, 3)[i] += 95.0;
    }
    judge(&v);
    assert_null(find(&v, "far-apart"));
    gess__verdict_free(&v);
    /* a wide density, where 300 nats are 6 spreads */
    fill(14);
    for (size_t i = 0; i < CHAINS * DRAWS; i++) values[i] *= 50.0;
    for (size_t i = 0; i < DRAWS; i++) chain(0, 3)[i] += 300.0;
    judge(&v);
    assert_null(find(&v, "far-apart"));
    gess__verdict_free(&v);
}

/* The command that restarts, ready for a shell. */
static void restart_command(void **unused)
{
    (void)unused;
    fill(15);
    for (size_t i = 0; i < DRAWS; i++) chain(0, 3)[i] -= 300.0;
    char *advice = advice_with_config("{\"model\": \"./my model.so\", \"options\": {\"seed\": \"41\"}}", "far-apart");
    const char *command = strchr(advice, '`');
    assert_non_null(command);
    assert_memory_equal(command, "`gess sample './my model.so' --config 'test_verdict'\\''s-", 55);
    assert_non_null(strstr(command, "/config.json' --init-from 'test_verdict'\\''s-"));
    assert_non_null(strstr(command, "' --best --seed 42 -o 'test_verdict'\\''s-"));
    assert_string_equal(command + strlen(command) - 7, "-best'`");
    free(advice);
    advice = advice_with_config("{\"model\": null}", "far-apart");
    assert_null(strchr(advice, '`'));
    assert_non_null(strstr(advice, "init-from"));
    free(advice);
}

static void drifts(void **unused)
{
    (void)unused;
    fill(4);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++) chain(0, c)[i] += 0.6 * (double)i / DRAWS;
    assert_fails("drift", "The chains as a whole drift in lp__");
    fill(5);
    for (size_t i = 0; i < DRAWS; i++) chain(1, 11)[i] = 0.3 * normal() + 8.0 * (double)i / DRAWS - 4.0;
    assert_fails("drift", "Chain 12 drifts in a");
}

/* Draws that are not finite: a failure of a parameter, a warning about what a run derives from its parameters. */
static void not_finite(void **unused)
{
    (void)unused;
    const int levels[] = {GESS__WARNING, GESS__FAILURE};
    char folder[] = "test_verdict-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/config.json", folder);
    fill(6);
    for (size_t i = 0; i < DRAWS; i += 7) chain(2, 3)[i] = NAN; /* of the columns lp__, a, b[1,2] */
    for (int dim = 1; dim <= 2; dim++) {
        gess__summary s;
        gess__verdict v;
        gess_error err = {0};
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "{\"dim\": %d}", dim);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
        assert_int_equal(gess__judge_run(&v, &s, folder, &err), GESS_OK);
        const gess__finding *f = find(&v, "not-finite");
        assert_non_null(f);
        assert_int_equal(f->level, levels[dim - 1]);
        assert_int_equal(v.pass, dim == 1);
        assert_non_null(strstr(f->text, "b[1,2] has draws that are not finite (1 of 3 quantities have)"));
        gess__verdict_free(&v);
        gess__summary_free(&s);
    }
    unlink(path);
    rmdir(folder);
}

static void too_few(void **unused)
{
    (void)unused;
    fill(6);
    gess__draws few = draws;
    few.draws = 19;
    gess__summary s;
    gess__verdict v;
    gess_error err = {0};
    assert_int_equal(gess__summarise(&s, &few, &err), GESS_OK);
    assert_int_equal(gess__judge_run(&v, &s, "/nonexistent", &err), GESS_OK);
    assert_false(v.pass);
    assert_non_null(find(&v, "draws"));
    assert_non_null(find(&v, "files"));
    gess__verdict_free(&v);
    gess__summary_free(&s);
    fill(6);
    values[CHAINS * DRAWS + 5] = INFINITY;
    assert_fails("not-finite", "a has draws");
}

/* The draws per chain that the advice of the first finding asks for, or 0 if it asks for none. */
static uint64_t draws_asked_for(uint64_t each, int *enough)
{
    gess__draws few = draws;
    gess__summary s;
    gess__verdict v;
    gess_error err = {0};
    uint64_t asked = 0;
    few.draws = each;
    assert_int_equal(gess__summarise(&s, &few, &err), GESS_OK);
    assert_int_equal(gess__judge_run(&v, &s, "/nonexistent", &err), GESS_OK);
    *enough = find(&v, "draws") == NULL && find(&v, "ess") == NULL && find(&v, "r-hat") == NULL;
    for (size_t i = 0; i < v.count && asked == 0; i++) {
        const char *at = strstr(v.findings[i].advice, "gess resume /nonexistent --draws ");
        if (at != NULL) asked = strtoull(at + strlen("gess resume /nonexistent --draws "), NULL, 10);
    }
    gess__verdict_free(&v);
    gess__summary_free(&s);
    return asked;
}

/* The verdict asks for about as many draws as it takes, and no more. */
static void as_many_as_needed(void **unused)
{
    unsigned enough = 0, half = 0;
    int fine;
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fill(seed);
        uint64_t asked = draws_asked_for(25, &fine);
        assert_true(asked > 25 && asked < DRAWS);
        assert_true(draws_asked_for(7, &fine) >= 20);
        draws_asked_for(asked, &fine);
        enough += fine != 0;
        draws_asked_for(asked / 3, &fine);
        half += fine != 0;
    }
    if (enough < 14 || half > 4) fail_msg("%u of 20 are enough, a third of them would be in %u", enough, half);
}

/* ---- summaries ---- */

/* Compares every byte of the figures, unless both are NaN. */
static void assert_same(const gess__summary *a, const gess__summary *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->names[i], b->names[i]);
#define FIGURE(name, format, rank) \
    assert_true(a->figures[i].name == b->figures[i].name || (isnan(a->figures[i].name) && isnan(b->figures[i].name)));
        GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
        assert_true(a->figures[i].chains.gap == b->figures[i].chains.gap);
        assert_true(a->figures[i].at_top == b->figures[i].at_top);
    }
}

static void from_a_file(void **unused)
{
    (void)unused;
    char path[] = "test_verdict-XXXXXX";
    gess__writer *writer;
    gess_error err = {0};
    size_t start = 0;
    double *rows = malloc(sizeof values);
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    fill(7);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++)
            for (size_t j = 0; j < COLUMNS; j++) rows[(c * DRAWS + i) * COLUMNS + j] = chain(j, c)[i];
    assert_int_equal(gess__writer_new(&writer, GESS__NO_FOLDER, path, CHAINS, 1, &start, COLUMNS,
                                      (const char *const *)names, 1, &err),
                     GESS_OK);
    assert_int_equal(gess__writer_append(writer, 0, CHAINS, 0, DRAWS, rows, &err), GESS_OK);
    assert_int_equal(gess__writer_sync(writer, &err), GESS_OK);
    gess__writer_free(writer);
    for (size_t ensembles = 1; ensembles <= 3; ensembles += 2) {
        gess__summary_settings memory = {.ensembles = ensembles},
                               scant = {.ensembles = ensembles, .max_bytes = 1, .threads = 2};
        gess__summary a, b;
        assert_int_equal(gess__summarise_draws(&a, &draws, &memory, &err), GESS_OK);
        assert_int_equal(gess__summarise_file(&b, path, &scant, &err), GESS_OK);
        assert_same(&a, &b);
        gess__summary_free(&a);
        gess__summary_free(&b);
    }
    unlink(path);
    free(rows);
}

/* The chains of each ensemble agree; the ensembles do not. */
static void ensembles_are_compared(void **unused)
{
    (void)unused;
    gess__summary s;
    gess_error err = {0};
    gess__summary_settings two = {.ensembles = 2};
    fill(8);
    for (size_t c = 0; c < CHAINS / 2; c++)
        for (size_t i = 0; i < DRAWS; i++) chain(1, c)[i] += 1.0;
    assert_int_equal(gess__summarise_draws(&s, &draws, &two, &err), GESS_OK);
    /* halves of two long chains, sd 1, means 0 and 1: variance of four means 1/3 */
    assert_true(fabs(s.figures[0].r_hat_ensembles - sqrt(1.0 + 1.0 / 3.0)) < 0.04);
    assert_true(s.figures[0].r_hat >= s.figures[0].r_hat_ensembles);
    assert_true(s.figures[1].r_hat_ensembles < 1.003);
    assert_true(s.figures[1].r_hat == s.figures[1].r_hat_chains);
    gess__summary_free(&s);
    gess__summary_settings many = {.ensembles = CHAINS + 1};
    assert_int_equal(gess__summarise_draws(&s, &draws, &many, &err), GESS_ERR_USAGE);
    gess__summary_free(&s);
}

/* All chains make the same excursions, so the error of their mean is that of one chain. */
static void series_sees_interaction(void **unused)
{
    (void)unused;
    gess__summary s;
    gess_error err = {0};
    fill(9);
    for (size_t c = 1; c < CHAINS; c++) memcpy(chain(1, c), chain(1, 0), DRAWS * sizeof(double));
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    double ratio = s.figures[0].mcse_series / s.figures[0].mcse_mean, root = sqrt((double)CHAINS);
    assert_true(ratio > 0.7 * root && ratio < 1.4 * root);
    ratio = s.figures[1].mcse_series / s.figures[1].mcse_mean;
    assert_true(ratio > 0.6 && ratio < 1.6);
    gess__summary_free(&s);
}

/* Cauchy draws: no mean, no sd and no standard error of either, in any form; quantiles stay. */
static void moments_give_way(void **unused)
{
    (void)unused;
    gess__summary s;
    gess__verdict v;
    gess_error err = {0};
    fill(12);
    for (size_t i = 0; i < CHAINS * DRAWS; i++) values[CHAINS * DRAWS + i] = normal() / normal();
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    assert_true(isfinite(s.figures[0].mean) && isfinite(s.figures[0].sd)); /* for the rules */
    json_t *root = gess__summary_json(&s), *heavy = json_array_get(json_object_get(root, "parameters"), 0),
           *light = json_array_get(json_object_get(root, "parameters"), 1);
    const char *const lost[] = {"mean", "sd", "mcse_mean", "mcse_sd", "mcse_series"};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        assert_true(json_is_null(json_object_get(heavy, lost[i])));
        assert_true(json_is_real(json_object_get(light, lost[i])));
    }
    const char *const kept[] = {"q5", "q50", "q95", "mcse_q5", "mcse_q50", "mcse_q95", "ess_bulk", "r_hat"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) assert_true(json_is_real(json_object_get(heavy, kept[i])));
    assert_true(fabs(json_number_value(json_object_get(heavy, "tail_index")) - 1.0) < 0.25);
    assert_true(json_number_value(json_object_get(heavy, "tail_index_se")) < 0.1);
    json_decref(root);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    gess__summary_print_table(&s, 0, out);
    fclose(out);
    char moments[3][32];
    assert_int_equal(sscanf(strstr(text, "\na "), " a %31s %31s %31s", moments[0], moments[1], moments[2]), 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(moments[i], "NA");
    assert_non_null(strstr(text, "a: the tails are too heavy for figures that are NA (tail index "));
    free(text);
    gess__summary_free(&s);
    judge(&v);
    const gess__finding *f = find(&v, "heavy-tails");
    assert_true(v.pass && f != NULL && f->level == GESS__NOTE && find(&v, "slow-tails") == NULL);
    assert_non_null(strstr(f->text, "The draws of a give no mean and no standard deviation"));
    assert_non_null(strstr(f->advice, "q50, q5, q95"));
    gess__verdict_free(&v);
}

/* An index near 1/2 is only a doubt: figures stay. Tails of a t with two degrees of freedom, by inversion. */
static void moments_in_doubt(void **unused)
{
    (void)unused;
    gess__summary s;
    gess__verdict v;
    gess_error err = {0};
    fill(13);
    for (size_t i = 0; i < CHAINS * DRAWS; i++) {
        double u = uniform();
        values[CHAINS * DRAWS + i] = (2.0 * u - 1.0) / sqrt(2.0 * u * (1.0 - u));
    }
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    assert_int_equal(gess__moments_of(&s.figures[0].tail), GESS__SD_DOUBTFUL);
    gess__figures shown = gess__figures_shown(&s.figures[0]);
    assert_true(isfinite(shown.mean) && isfinite(shown.sd) && isfinite(shown.mcse_mean));
    gess__summary_free(&s);
    judge(&v);
    const gess__finding *f = find(&v, "heavy-tails");
    assert_true(v.pass && f != NULL && f->level == GESS__NOTE);
    assert_non_null(strstr(f->text, "The standard deviation of a is poorly determined"));
    gess__verdict_free(&v);
}

/* Heavy tails that chains hardly leave: a warning, beside the note. */
static void tails_that_are_slow(void **unused)
{
    (void)unused;
    gess__verdict v;
    fill(14);
    for (size_t c = 0; c < CHAINS; c++) {
        double z = normal();
        for (size_t i = 0; i < DRAWS; i++) {
            z = 0.99 * z + sqrt(1.0 - 0.99 * 0.99) * normal();
            chain(1, c)[i] = tan(3.141592653589793 * (0.5 - 0.5 * erfc(z / sqrt(2.0))));
        }
    }
    judge(&v);
    const gess__finding *f = find(&v, "slow-tails");
    assert_true(f != NULL && f->level == GESS__WARNING && find(&v, "heavy-tails") != NULL);
    assert_non_null(strstr(f->text, "The tails of a are heavy"));
    gess__verdict_free(&v);
}

static void order_and_names(void **unused)
{
    (void)unused;
    gess__summary s;
    gess_error err = {0};
    gess__summary_settings some = {.vars = "b[1,2],lp__"}, none = {.vars = "b[1,2],nope"};
    fill(10);
    for (size_t i = 0; i < DRAWS; i++) chain(2, 3)[i] += 5.0;
    for (size_t i = 0; i < CHAINS * DRAWS; i++) values[CHAINS * DRAWS + i] = 2.0;
    assert_int_equal(gess__summarise(&s, &draws, &err), GESS_OK);
    assert_string_equal(s.names[2], "lp__");
    gess__summary_sort(&s);
    assert_string_equal(s.names[0], "b[1,2]");
    assert_int_equal(s.column[0], 2);
    assert_string_equal(s.names[2], "a"); /* constant */
    gess__summary_free(&s);
    assert_int_equal(gess__summarise_draws(&s, &draws, &some, &err), GESS_OK);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.names[0], "b[1,2]");
    gess__summary_free(&s);
    assert_int_equal(gess__summarise_draws(&s, &draws, &none, &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "nope"));
    gess__summary_free(&s);
    assert_true(gess__name_matches("theta*", "theta[3]"));
    assert_true(gess__name_matches("a,t*[*,2],b", "theta[1,2]"));
    assert_true(gess__name_matches("*a*b*", "xxaxxbxx"));
    assert_true(gess__name_matches("?", "x"));
    assert_false(gess__name_matches("?", "xy"));
    assert_false(gess__name_matches("t*[*,2]", "theta[1,3]"));
    assert_false(gess__name_matches("theta", "theta[3]"));
    assert_false(gess__name_matches("", "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_draws_pass),
        cmocka_unit_test(a_stuck_chain),
        cmocka_unit_test(modes_never_joined),
        cmocka_unit_test(levels_far_apart),
        cmocka_unit_test(restart_command),
        cmocka_unit_test(drifts),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(too_few),
        cmocka_unit_test(as_many_as_needed),
        cmocka_unit_test(from_a_file),
        cmocka_unit_test(ensembles_are_compared),
        cmocka_unit_test(series_sees_interaction),
        cmocka_unit_test(moments_give_way),
        cmocka_unit_test(moments_in_doubt),
        cmocka_unit_test(tails_that_are_slow),
        cmocka_unit_test(order_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
