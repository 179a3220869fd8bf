#!/bin/sh
# Mean and sd of a heavy-tailed parameter: given if it lies between two bounds, and not if it has none.
#   bounded_tails.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"
cat > model.c << 'C'
#include <gess/gess.h>
#include <math.h>
static const double lower[1] = {-1e5}, upper[1] = {1e5};
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker, (void)dim;
    for (size_t i = 0; i < n; i++) values[i] = -log1p(x[i] * x[i]);
    return 0;
}
GESS_API extern const unsigned gess_plugin_abi;
const unsigned gess_plugin_abi = GESS_ABI;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size);
int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size)
{
    (void)path, (void)message, (void)size;
    density->dim = 1;
    density->logp = logp;
    if (BOUNDED) density->lower = lower, density->upper = upper;
    return 0;
}
GESS_API void gess_plugin_close(gess_density *density);
void gess_plugin_close(gess_density *density)
{
    (void)density;
}
C
for bounded in 0 1; do
    cc -std=c17 -O2 -fPIC -shared -DBOUNDED=$bounded -I"$2/include" -o model$bounded.so model.c -lm || fail "cc"
    "$gess" sample ./model$bounded.so --chains 32 --warmup 300 --draws 400 -q -o run$bounded || fail "sample $bounded"
    "$gess" summary run$bounded --csv --vars x1 > row$bounded.csv || fail "summary $bounded"
done
mean()
{
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mean") at = i } NR == 2 { print $at }' "$1"
}
[ "$(mean row0.csv)" = NA ] || fail "a Cauchy has no mean: $(cat row0.csv)"
[ "$(mean row1.csv)" != NA ] && [ -n "$(mean row1.csv)" ] || fail "a bounded parameter has one: $(cat row1.csv)"
"$gess" diagnose run0 | grep -q heavy-tails || fail 'the verdict on a Cauchy'
! "$gess" diagnose run1 | grep -q 'give no mean' || fail 'the verdict on a bounded parameter'
exit $failed
