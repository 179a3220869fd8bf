#!/bin/sh
# Densities that misbehave, each with the promised outcome. The models are built here from one source.
#   badmodels.sh GESS SOURCE_FOLDER
set -eu
gess=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > model.c <<'END'
#include <gess/gess.h>
#include <math.h>
#include <stdio.h>
#ifndef VALUE
#define VALUE -0.5 * (x[0] * x[0] + x[1] * x[1])
#endif
#ifndef RETURN
#define RETURN 0
#endif
#ifndef DERIVED
#define DERIVED 0
#endif

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * dim;
        (void)x;
        values[i] = VALUE;
    }
    return RETURN;
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)x, (void)derived;
    out[0] = 1.0;
    return DERIVED;
}

const unsigned gess_plugin_abi = GESS_ABI;

/* With data: two columns are needed. */
int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    static const char *const names[] = {"alpha", "beta"}, *const derived_names[] = {"gamma"};
    FILE *file = data != NULL ? fopen(data, "r") : NULL;
    int columns = 1, c;
    while (file != NULL && (c = getc(file)) != EOF && c != '\n') columns += c == ',';
    if (file != NULL) fclose(file);
    if (data != NULL && columns != 2) {
        snprintf(message, size, "%s has %d columns, but 2 are needed", data, columns);
        return 1;
    }
    density->dim = 2;
    density->logp = logp;
    density->names = names;
    density->derived = 1;
    density->derived_names = derived_names;
    density->derive = derive;
    return 0;
}
END

fail()
{
    echo "$*; it said: $(cat out err)"
    exit 1
}

# try STATUS NAME FLAG [OPTION...]: builds the model with the flag and samples it; the exit status must match STATUS (a
# shell pattern) within a few seconds (many with a sanitizer)
try()
{
    expected=$1
    name=$2
    flag=$3
    shift 3
    rm -rf run
    cc -std=c17 -Wall -Wextra -Werror -fPIC -shared -I "$source/include" "$flag" -o "$name.so" model.c
    status=0
    timeout 60 "$gess" sample "./$name.so" -o run "$@" > out 2> err || status=$?
    # shellcheck disable=SC2254
    case $status in
    $expected) ;;
    *) fail "$name: status $status, not $expected" ;;
    esac
}

says()
{
    grep -qE -e "$1" err || fail "$name: no message '$1'"
}

# ---- NaN ----
# at x > 1: outside the support, so alpha is a normal cut off at 1, whose mean is -0.2876
try 0 nan '-DVALUE=x[0] > 1 ? NAN : -0.5 * (x[0] * x[0] + x[1] * x[1])' --draws 500
"$gess" summary --json run > json
nans=$(sed -n 's/.*"nans": \([0-9]*\).*/\1/p' json)
[ "$nans" -gt 0 ] || fail "nan: summary --json counts '$nans' NaN"
"$gess" summary run > text
grep -q "$nans evaluations gave NaN" text || fail "nan: summary does not say it: $(cat text)"
awk '$1 == "alpha" { d = $2 + 0.2876; exit !(d < 0.02 && -d < 0.02) }' text || fail "nan: alpha is wrong: $(cat text)"
[ "$(head -n 1 run/nans.csv)" = iteration,chain,alpha,beta ] || fail "nan: the first points are not in nans.csv"
awk -F, 'NR > 1 && !($3 > 1) { bad = 1 } END { exit bad || NR != 11 }' run/nans.csv ||
    fail "nan: the first ten points are not those with NaN: $(cat run/nans.csv)"
# a run without any counts none
try 0 good '-DVALUE=-0.5 * (x[0] * x[0] + x[1] * x[1])' --draws 20
grep -q '"nans": 0,' run/summary.json || fail "good: NaN counted"
# at every point
try 2 all_nan -DVALUE=NAN
says 'no starting point inside the support for chain 1: the log density was NaN at 100 random points, the last at alpha = .*beta = .*--init'

# ---- +infinity: the point is named ----
try 2 inf -DVALUE=INFINITY
says 'infinity at the start of chain 1, alpha = [-0-9.]*, beta = [-0-9.]*'
try 2 late_inf '-DVALUE=x[0] > 3.5 ? INFINITY : -0.5 * (x[0] * x[0] + x[1] * x[1])'
says '\+infinity at alpha = (3\.[5-9]|[4-9])[0-9.]*, beta = .*chain [0-9]+, iteration [0-9]+'
[ ! -e run/summary.json ] || fail "late_inf: a summary of a run that failed"

# ---- -infinity at all starts ----
try 2 outside -DVALUE=-INFINITY
says 'no starting point .* was -infinity at 100 random points'
[ ! -e run ] || fail "outside: a run directory without a run"
# at most of them only
try 0 mostly_outside '-DVALUE=x[0] < 1.5 ? -INFINITY : -0.5 * (x[0] * x[0] + x[1] * x[1])' --draws 50
"$gess" summary run > text
awk '$1 == "alpha" { exit !($5 >= 1.5) }' text || fail "mostly_outside: alpha is below 1.5: $(cat text)"

# ---- errors ----
try 2 error -DRETURN=9
says 'returned error 9 .*alpha = '
try 2 late_error '-DRETURN=points[0] > 3'
says 'returned error 1 .*alpha = '
try 2 derive_error -DDERIVED=5 --draws 20
says 'error 5'

# ---- data of the wrong shape: the model's message ----
printf 'a,b,c\n1,2,3\n' > three.csv
printf 'a,b\n1,2\n' > two.csv
try 2 columns -DRETURN=0 --data three.csv --draws 20
says 'three.csv has 3 columns, but 2 are needed'
[ ! -e run ] || fail "columns: a run directory without a run"
try 0 columns -DRETURN=0 --data two.csv --draws 20

# ---- flat and improper ----
for options in '' '--schedule two-group' '--chains 4 --schedule two-group'; do
    # shellcheck disable=SC2086
    try 2 flat -DVALUE=3.0 $options
    says 'log density is 3 at every point.*flat and improper'
    [ ! -e run/summary.json ] || fail "flat: a summary of a run that failed"
done
# a uniform density, far wider than the starts: a density like any other
try 0 uniform '-DVALUE=fabs(x[0]) < 1000 && fabs(x[1]) < 1000 ? 3.0 : -INFINITY'
grep -q 'targets met' out || fail "uniform: targets not met"
# improper in one direction only, or falling too slowly, or with too few evaluations to notice: the run ends, either
# because the chains have run away or without claiming success
budget='--max-evals 200000 --max-warmup-evals 100000'
for schedule in pooled two-group; do
    for value in 3.0 '-0.5 * x[0] * x[0]' '-log(1 + fabs(x[0])) - 0.5 * x[1] * x[1]' 'x[0] - 0.5 * x[1] * x[1]'; do
        # shellcheck disable=SC2086
        try '[02]' improper "-DVALUE=$value" $budget --schedule $schedule
        grep -q 'TARGETS NOT MET' out || grep -q 'improper' err || fail "improper: $value, $schedule: no warning"
    done
done
echo 'every bad model has its promised outcome'
