/* The evidence as a call of the library: integrals that are known, models without files of their own, fixed and
 * periodic parameters, several ensembles, reasons of a refusal. */
#include <gess/draws.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

static char folder[] = "/tmp/gess-evidence-XXXXXX";

/* An angle with period 10 and density e^(2 cos), a fixed parameter, and e^x below 1: ∫ = 10 I0(2) · e. */
static int circle(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user;
    (void)worker;
    for (size_t i = 0; i < n; i++) out[i] = 2.0 * cos(x[i * dim] * 2.0 * PI / 10.0) + x[i * dim + 2];
    return 0;
}

static const double circle_log = 2.302585092994046 + 0.824003954270786 + 1.0; /* log 10 + log I0(2) + 1 */

static gess_run *sample(gess_model **model, const char *name, const char *const *settings)
{
    static const double lower[] = {-3.0, 4.0, -INFINITY}, upper[] = {7.0, 4.0, 1.0};
    static const unsigned char periodic[] = {1, 0, 0};
    const gess_density density =
        {.size = sizeof density, .dim = 3, .logp = circle, .lower = lower, .upper = upper, .periodic = periodic};
    char path[512];
    gess_options *options;
    gess_run *run;
    gess_error err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(gess_model_new(model, &density, &err), GESS_OK);
    assert_int_equal(gess_options_new(&options, &err), GESS_OK);
    for (; *settings != NULL; settings += 2)
        assert_int_equal(gess_options_set(options, settings[0], settings[1], &err), GESS_OK);
    assert_int_equal(gess_run_new(&run, *model, options, path, &err), GESS_OK);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    gess_options_free(options);
    return run;
}

static gess_evidence_result evidence_of(gess_run *run, const gess_evidence_settings *settings, char **json)
{
    gess_evidence *evidence;
    gess_evidence_result r;
    gess_error err;
    assert_int_equal(gess_evidence_new(&evidence, run, settings, settings != NULL ? sizeof *settings : 0, &err),
                     GESS_OK);
    assert_int_equal(gess_evidence_info(evidence, &r, sizeof r, &err), GESS_OK);
    if (json != NULL) assert_int_equal(gess_evidence_text(evidence, GESS_FORMAT_JSON, json, &err), GESS_OK);
    gess_evidence_free(evidence);
    return r;
}

/* A circle carries the mass of its radius, a bound its Jacobian, and a fixed parameter nothing. */
static void test_circle(void **state)
{
    (void)state;
    static const char *const plain[] = {"seed", "3", NULL}, *const several[] = {"ensembles", "4", NULL},
                             *const hard[] = {"transform", "none", "seed", "8", NULL};
    static const char *const *const all[] = {plain, several, hard};
    static const char *const names[] = {"plain", "several", "hard"};
    for (size_t i = 0; i < 3; i++) {
        gess_model *model;
        gess_run *run = sample(&model, names[i], all[i]);
        gess_evidence_result r = evidence_of(run, NULL, NULL);
        assert_false(r.refused);
        assert_true(r.se > 0.0 && r.se <= 0.03);
        assert_true(fabs(r.log_evidence - circle_log) < 4.5 * r.se);
        assert_true(fabs(r.second_log_evidence - circle_log) < 5.0 * r.second_se);
        assert_true(r.evals > 900 && r.evals <= 5000);
        gess_run_free(run);
        gess_model_free(model);
    }
}

/* Values that are stored are not evaluated again, and a smaller error begins with them. */
static void test_again(void **state)
{
    (void)state;
    static const char *const settings[] = {"seed", "5", NULL};
    const gess_evidence_settings small = {.target_error = 0.003};
    gess_model *model;
    char *first, *second;
    gess_run *run = sample(&model, "again", settings);
    evidence_of(run, NULL, &first);
    gess_evidence_result r = evidence_of(run, &small, NULL);
    assert_true(r.se <= 0.003 && fabs(r.log_evidence - circle_log) < 4.5 * r.se);
    evidence_of(run, NULL, &second);
    assert_string_equal(first, second);
    gess_text_free(first);
    gess_text_free(second);
    gess_run_free(run);
    gess_model_free(model);
}

static void test_refusal(void **state)
{
    (void)state;
    static const char *const settings[] = {"draws", "5", "chains", "4", NULL};
    gess_model *model;
    gess_evidence *evidence;
    gess_evidence_result r;
    gess_finding reason;
    gess_error err;
    char *text;
    int found = 0;
    gess_run *run = sample(&model, "few", settings);
    assert_int_equal(gess_evidence_new(&evidence, run, NULL, 0, &err), GESS_OK);
    assert_int_equal(gess_evidence_info(evidence, &r, sizeof r, &err), GESS_OK);
    assert_true(r.refused && r.reasons > 0 && isnan(r.log_evidence) && isnan(r.se));
    for (size_t i = 0; i < r.reasons; i++) {
        assert_int_equal(gess_evidence_reason(evidence, i, &reason, sizeof reason, &err), GESS_OK);
        found |= strcmp(reason.code, "few-draws") == 0;
    }
    assert_true(found);
    assert_int_equal(gess_evidence_reason(evidence, r.reasons, &reason, sizeof reason, &err), GESS_ERR_USAGE);
    assert_int_equal(gess_evidence_text(evidence, GESS_FORMAT_TEXT, &text, &err), GESS_OK);
    assert_non_null(strstr(text, "REFUSED"));
    gess_text_free(text);
    assert_int_equal(gess_evidence_text(evidence, GESS_FORMAT_CSV, &text, &err), GESS_ERR_USAGE);
    const gess_evidence *both[] = {evidence, evidence};
    assert_int_equal(gess_compare_text(2, both, GESS_FORMAT_TEXT, &text, &err), GESS_OK);
    assert_non_null(strstr(text, "refused"));
    gess_text_free(text);
    assert_int_equal(gess_compare_text(1, both, GESS_FORMAT_TEXT, &text, &err), GESS_ERR_USAGE);
    gess_evidence_free(evidence);
    gess_run_free(run);
    gess_model_free(model);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[512];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circle), cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_refusal)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
