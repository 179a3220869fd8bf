/* base/mem.h: zeroed, aligned memory; a request that cannot be met is a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#ifdef GESS_SANITIZED
/* Sanitizers must return NULL for a request that is too large, as malloc() does. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static int allocate(size_t count, double **out, gess_error *err)
{
    GESS_ALLOC(out, count, err);
    return GESS_OK;
}

static void zeroed_and_aligned(void **state)
{
    (void)state;
    for (size_t count = 0; count < 300; count++) {
        double *x = NULL;
        gess_error err = {0};
        assert_int_equal(allocate(count, &x, &err), GESS_OK);
        assert_non_null(x);
        assert_true((uintptr_t)x % GESS__ALIGN == 0);
        for (size_t i = 0; i < count; i++) assert_true(x[i] == 0.0);
        memset(x, 0xff, count * sizeof *x); /* so that the next block is not zero by chance; ASan checks the size */
        free(x);
    }
    char *nothing = NULL;
    assert_int_equal(gess__alloc_bytes(&nothing, 5, 0, "nothing", NULL), GESS_OK);
    assert_non_null(nothing);
    free(nothing);
}

/* A request that overflows, or that is larger than any machine, gives a message. */
static void too_much(void **state)
{
    (void)state;
    const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 8 + 1, SIZE_MAX / 16 + 1, SIZE_MAX / 8 - 7};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double *x = (double *)(uintptr_t)1;
        gess_error err = {0};
        assert_int_equal(allocate(counts[i], &x, &err), GESS_ERR_INTERNAL);
        assert_int_equal(err.status, GESS_ERR_INTERNAL);
        assert_null(x);
        assert_non_null(strstr(err.text, "out of memory"));
        assert_non_null(strstr(err.text, "of 8 bytes"));
        assert_int_equal(allocate(counts[i], &x, NULL), GESS_ERR_INTERNAL);
    }
    char *bytes;
    for (size_t less = 0; less < 200; less += 23)
        assert_int_equal(gess__alloc_bytes(&bytes, SIZE_MAX - less, 1, "bytes", NULL), GESS_ERR_INTERNAL);
}

static void texts(void **state)
{
    (void)state;
    char *copy = NULL;
    gess_error err = {0};
    assert_int_equal(gess__copy_text(&copy, "a name", &err), GESS_OK);
    assert_string_equal(copy, "a name");
    free(copy);
    assert_int_equal(gess__copy_text(&copy, "", &err), GESS_OK);
    assert_string_equal(copy, "");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_and_aligned),
        cmocka_unit_test(too_much),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
