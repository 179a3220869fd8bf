#!/bin/sh
# What a user meets in the terminal: periodic parameters, tables of 80 columns, hints that can be pasted, "did you mean",
# titles of models, a log density with a huge offset, a single draw.
#   surface.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/command.sh
. "$2/tests/command.sh"

cat > model.c << 'END'
#include <gess/gess.h>
#include <math.h>

const unsigned gess_plugin_abi = GESS_ABI;

/* An angle with a von Mises density around 0.105, next to its seam, and x, a standard normal. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++)
        values[i] = OFFSET + 152.0 * cos(x[i * dim] - 0.105) - 0.5 * x[i * dim + 1] * x[i * dim + 1];
    return 0;
}

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    static const char *const names[] = {"angle", "x"};
    static const double lower[] = {0.0, -INFINITY}, upper[] = {6.283185307179586, INFINITY};
    static const unsigned char periodic[] = {1, 0};
    (void)data, (void)message, (void)size;
    density->name = NAME;
    density->dim = 2;
    density->logp = logp;
    density->names = names;
    density->lower = lower;
    density->upper = upper;
    density->periodic = periodic;
    return 0;
}
END
build()
{
    cc -std=c17 -fPIC -shared -I "$source/include" "$@" model.c -lm
}
source=$2
build -o circle.so '-DNAME="the circle"' -DOFFSET=0.0
build -o line.so -DNAME=NULL -DOFFSET=1e13

# figure FILE NAME KEY: a figure of a parameter of a JSON summary
figure()
{
    sed -n "/\"name\": \"$2\"/,/}/s/^ *\"$3\": \\([^,]*\\),*\$/\\1/p" "$1"
}

# between VALUE LOW HIGH
between()
{
    awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v != "" && v + 0 >= a && v + 0 <= b) }' || fail "$1 is not from $2 to $3"
}

# ---- titles ----
"$gess" sample ./circle.so --draws 400 --seed 4 > out.txt 2>&1 || fail "sample ./circle.so: $(cat out.txt)"
[ -f gess-runs/the_circle-4/draws.gess ] || fail "the run is not in gess-runs/the_circle-4: $(ls gess-runs)"
"$gess" sample ./line.so --seed 5 > out.txt 2>&1 || fail "sample ./line.so: $(cat out.txt)"
[ -f gess-runs/line-5/draws.gess ] || fail "the run is not in gess-runs/line-5: $(ls gess-runs)"
grep -q '"title": "the circle"' gess-runs/the_circle-4/config.json || fail "the title is not in config.json"
if "$gess" report gess-runs/the_circle-4 > said 2>&1; then
    grep -q '"title":"the circle"' gess-runs/the_circle-4/report.html || fail "the report has another title"
    grep -q '"drift_z":' gess-runs/the_circle-4/report.html || fail "the report has no drift_z"
    grep -q '"geweke":' gess-runs/the_circle-4/report.html && fail "the report has geweke"
fi

# ---- periodic parameters: the truth is mean 0.105, sd 0.0813 ----
mv gess-runs/the_circle-4 "a run"
"$gess" summary "a run" --json > run.json
between "$(figure run.json angle mean)" 0.095 0.115
between "$(figure run.json angle sd)" 0.078 0.085
between "$(figure run.json angle q5)" -0.04 -0.02
between "$(figure run.json angle q50)" 0.095 0.115
between "$(figure run.json angle q95)" 0.225 0.255
between "$(figure run.json angle r_hat)" 0.99 1.01
between "$(figure run.json angle mcse_mean)" 0.0001 0.005
[ "$(figure run.json angle circular)" = true ] || fail "the angle is not circular"
[ "$(figure run.json x circular)" = false ] || fail "x is circular"
"$gess" summary "a run" > out.txt
grep -q '^angle: periodic, so mean and sd are circular' out.txt || fail "the table does not say what is circular"
expect 0 PASS "$gess" diagnose "a run"
cmp -s run.json "a run/summary.json" || fail "summary.json differs from summary --json"
"$gess" export "a run" --to csv -o csv > /dev/null || fail "export"
grep -q '^# periodic_1 = 0, 6.28318' csv/chain-1.csv || fail "the CSV files do not say what is periodic"
"$gess" summary csv/chain-*.csv --json > csv.json
for key in mean sd q5 q95 r_hat ess_bulk drift_z circular; do
    # the shell sorts chain-10 before chain-2, so sums differ in their last digits
    [ "$(figure csv.json angle $key | cut -c1-9)" = "$(figure run.json angle $key | cut -c1-9)" ] || fail "$key of the CSV files differs"
done

# the stop rule judges an angle as the summary does: here one with a mode across its seam and another mode
sed -e '/names/d' -e 's/density->dim = 2/density->dim = 1/' -e '/^        values\[i\]/c\
        values[i] = log(exp(9.0 * cos(x[i * dim] - 0.4) - 9.0) + 0.3 * exp(60.0 * cos(x[i * dim] - 3.0) - 60.0));' \
    model.c > two.c
cc -std=c17 -fPIC -shared -I "$source/include" -DNAME=NULL -o two.so two.c -lm
"$gess" sample ./two.so --seed 2 -q -o stopped || fail "sample ./two.so until the targets are met"
# least KEY SIGN: the smallest figure of all rows, times SIGN
least()
{
    sed -n "s/^ *\"$1\": \([^,]*\),*\$/\1/p" stopped/summary.json | awk -v s="$2" '{ print s * $1 }' | sort -g | sed -n 1p
}
for pair in ess_bulk:stop_ess:1 r_hat:stop_rhat:-1; do
    key=${pair%%:*} sign=${pair##*:} stop=${pair#*:}
    figures=$(least "$key" "$sign") stop=$(least "${stop%:*}" "$sign")
    [ "$figures" = "$stop" ] || fail "the stop rule had $stop, and the summary has $figures for $key"
done

if "$gess" export "a run" --to netcdf -o out.nc > /dev/null 2>&1; then
    grep -qa periodic out.nc || fail "the netCDF file does not say what is periodic"
fi
if "$gess" export "a run" --to emcee -o out.h5 > /dev/null 2>&1; then
    grep -qa parameter_periodic out.h5 || fail "the HDF5 file does not say what is periodic"
fi

# ---- 80 columns ----
if command -v script > /dev/null; then
    script -qec "stty cols 80; '$gess' summary 'a run'; '$gess' sample german-credit --draws 60 -q -o wide; '$gess' summary wide" /dev/null |
        tr -d '\r' > table.txt
    awk 'length > 80 { print; bad = 1 } END { exit bad }' table.txt || fail "lines of more than 80 columns"
    grep -q ' nested' table.txt || fail "no R-hat in 80 columns: $(cat table.txt)"
    grep -q 'not shown for want of room' table.txt || fail "what was left out is not said"
    script -qec "stty cols 44; '$gess' summary wide" /dev/null | tr -d '\r' | sed 's/…/./' > table.txt
    awk 'length > 44 { print; bad = 1 } END { exit bad }' table.txt || fail "lines of more than 44 columns"
    script -qec "stty cols 80; '$gess' sample funnel --warmup 2000 --draws 3000 --threads 1 -o shown" /dev/null |
        tr '\r' '\n' > progress.txt
    grep -q 'sampling: draw [0-9,]* of 3,000 ([0-9]* %)' progress.txt || fail "progress: $(head -c 600 progress.txt)"
    grep -q 'learning: [0-9,]* evaluations of [0-9,]*' progress.txt || fail "progress of learning"
    grep -q 'about 0 s left' progress.txt && fail "about 0 s left"
fi

# ---- hints ----
expect 3 "to continue: gess resume 'my run'" "$gess" sample funnel --draws 1e9 --warmup 10 --max-time 1s -o 'my run'
expect 1 "gess resume 'my run'" "$gess" sample funnel -o 'my run'
"$gess" sample gaussian --draws 1 -q -o 'one draw' || fail "one draw"
expect 6 "gess resume 'one draw' --draws 20" "$gess" diagnose 'one draw'

"$gess" sample funnel --draws 3 --chains 8 --evidence -o 'few draws' > out.txt || fail "few draws"
grep -qF "(\`gess evidence 'few draws'\` says more)" out.txt || fail "the path of an evidence: $(cat out.txt)"
expect 6 "gess resume 'few draws' --draws N" "$gess" evidence 'few draws'

# ---- one draw, a huge offset ----
expect 6 '64 chains of 1 draw, too few for ESS and R-hat' "$gess" diagnose 'one draw'
expect 0 'NA' "$gess" summary 'one draw'
"$gess" summary 'one draw' | grep -qE 'inf|nan' && fail "one draw: inf or nan"
expect 0 PASS "$gess" diagnose gess-runs/line-5
"$gess" diagnose gess-runs/line-5 | grep -q 'final warm-up window' && fail "an offset of 1e13 is taken for a shift"

# ---- did you mean ----
expect 1 'did you mean `gess sample`?' "$gess" sampel
expect 1 '(did you mean `german-credit`?)' "$gess" sample german-credti
expect 1 '(did you mean `nuts`?); there are gess, ess,' "$gess" sample gaussian --kernel nutz -o bad
expect 1 '(did you mean `pooled`?)' "$gess" sample gaussian --schedule poold -o bad
expect 1 'did you mean --kernel?' "$gess" sample gaussian --kernle nuts -o bad
expect 1 'did you mean --json?' "$gess" summary 'one draw' --jsno
expect 1 '(did you mean `netcdf`?)' "$gess" export 'one draw' --to netcfd
expect 1 '(did you mean `dim`?)' "$gess" sample wishart:dmi=3 -o bad
expect 1 "unrecognized option" "$gess" summary 'one draw' --elephants
expect 1 'unknown model' "$gess" sample elephants -o bad
"$gess" sample elephants -o bad 2>&1 | grep -q 'did you mean' && fail "elephants are near nothing"

exit $failed
