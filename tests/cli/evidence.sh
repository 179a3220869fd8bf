#!/bin/sh
# `gess evidence` and `gess compare`: known integrals, the same bits for any threads and after an interruption, refusals
# with their reasons, Bayes factors.
#   evidence.sh GESS SOURCE_FOLDER
set -u
. "$2/tests/command.sh"
source=$2

# number KEY: of the JSON in out.json
number()
{
    sed -n "s/^  \"$1\": \(-\{0,1\}[0-9.e+-]*\),\{0,1\}\$/\1/p" out.json
}

# near TRUTH: log_evidence of out.json is within 5 standard errors of TRUTH, and 0.1
near()
{
    awk -v z="$(number log_evidence)" -v se="$(number se)" -v truth="$1" 'BEGIN {
        d = z - truth; if (d < 0) d = -d; exit !(z != "" && se > 0 && d <= 5 * se && d < 0.1) }' ||
        fail "$2: log evidence $(number log_evidence) ± $(number se) is not $1"
}

density()
{
    cc -O1 -std=c17 -shared -fPIC "-DDENSITY_$1" -I"$source/include" -o "./$1.so" "$source/bench/evidence/densities.c" -lm ||
        fail "cannot build $1"
}

# ---- known integrals: bounds, circles, a map ----
density bounded
density periodic
for name in ./bounded.so ./periodic.so banana gaussian:dim=3; do
    rm -rf run
    "$gess" sample "$name" -o run -q --seed 5 || fail "sample $name"
    "$gess" evidence run --json > out.json || fail "evidence of $name: $(cat out.json)"
    near 0 "$name"
done
expect 0 'they agree' "$gess" evidence run
# T is exact: importance sampling, into which the stored draws do not enter, and the bridge beside it
grep -q '"method": "importance sampling",$' out.json || fail "gaussian: $(cat out.json)"
grep -q '"method": "bridge sampling",$' out.json || fail "gaussian, the second: $(cat out.json)"
grep -q '"se_draws": 0.0,' out.json || fail "gaussian: the draws count: $(cat out.json)"
expect 0 'the log of the integral of exp(lp__) over 3 parameters' "$gess" evidence run
[ -f run/evidence.json ] || fail "no evidence.json"

# without a T of its own: refitted to halves of the draws
rm -rf mh
"$gess" sample gaussian:dim=2 --kernel mh -o mh -q --seed 5 || fail "sample mh"
"$gess" evidence mh --json > out.json || fail "evidence of mh"
near 0 mh
grep -q '"refitted": true' out.json || fail "mh: T was not refitted"
# behind layers of a map, whose Jacobians count both ways
"$gess" sample banana --schedule two-group -o bent -q --seed 5 --target-rhat 1.1 || fail "sample bent"
"$gess" evidence bent --json > out.json || fail "evidence of bent: $(cat out.json)"
near 0 bent
grep -q '"layers": [1-9]' out.json || fail "bent: no map was learned: $(cat out.json)"

# ---- the same bits ----
"$gess" evidence run --threads 1 --json > one.json
rm run/evidence.values
"$gess" evidence run --threads 3 --json > three.json
cmp one.json three.json || fail "the evidence depends on the threads"
cp run/evidence.values whole
head -c 10000 whole > run/evidence.values # as after a kill in the middle of a record
"$gess" evidence run --json > again.json
cmp one.json again.json || fail "an interrupted evidence differs"
cmp -s run/evidence.values whole || fail "the values after an interruption differ"
head -c 100 whole | tr '\0' '\1' > run/evidence.values # damaged
"$gess" evidence run --json > again.json
cmp one.json again.json || fail "damaged values are used"

# ---- a smaller error, and the option of sample ----
"$gess" evidence run --target-evidence-error 0.001 --json > out.json || fail "a target"
near 0 target
awk -v se="$(number se)" 'BEGIN { exit !(se <= 0.001) }' || fail "the target is missed: $(number se)"
expect 1 'not a positive number' "$gess" evidence run --target-evidence-error 0
expect 0 'log evidence ' "$gess" sample gaussian:dim=2 --evidence -o line --seed 2
cp -r line before
expect 0 'complete' "$gess" resume line
cmp line/draws.gess before/draws.gess || fail "the evidence changed draws"
# a target that takes more draws than the other targets do
"$gess" sample banana --chains 8 --target-ess 100 --target-rhat 2 -o few -q --seed 2 || fail "few"
"$gess" sample banana --chains 8 --target-ess 100 --target-rhat 2 --target-evidence-error 0.004 -o many -q --seed 2 ||
    fail "many"
[ "$(wc -c < many/draws.gess)" -gt "$(wc -c < few/draws.gess)" ] || fail "the target of the evidence takes no more draws"
grep -q 'log evidence .*more draws' many/log.txt || fail "log.txt says nothing of it"

# draws that came later are not those of evidence.json
"$gess" sample gaussian:dim=2 --draws 200 -o longer -q || fail longer
"$gess" evidence longer > /dev/null || fail "evidence of longer"
"$gess" resume longer --draws 300 -q || fail "resume longer"
[ -f longer/evidence.json ] && fail "evidence.json is left over"
"$gess" evidence longer > /dev/null || fail "evidence of longer draws"
# a run that was stopped
for seconds in 0.3 1 4 16 64; do # until there are enough draws, on a busy machine too
    "$gess" sample student-t:dim=20 --target-ess 1000000 --max-time $seconds -o stopped --overwrite -q > /dev/null 2>&1
    [ $? -eq 3 ] || fail "the run was not stopped"
    "$gess" diagnose stopped > /dev/null 2>&1 && break
done
cp stopped/draws.gess stopped.gess
"$gess" evidence stopped --json > out.json || fail "evidence of stopped: $(cat out.json)"
near 0 stopped
cmp stopped/draws.gess stopped.gess || fail "the evidence changed the draws of a stopped run"

# ---- refusals ----
# refuse CODE DIR: with the reason, no number, and status 6
refuse()
{
    "$gess" evidence "$2" --json > out.json
    [ $? -eq 6 ] || fail "$2 is not refused"
    grep -q "\"code\": \"$1\"" out.json || fail "$2: no reason $1: $(cat out.json)"
    grep -q '"log_evidence": null' out.json || fail "$2: there is a number"
    grep -q '"verdict": "refused"' out.json || fail "$2: no verdict"
    expect 6 "($1)" "$gess" evidence "$2"
}
"$gess" sample gaussian --draws 5 -o five -q || fail five
refuse draws five
"$gess" sample gaussian --draws 5 --chains 4 -o twenty -q || fail twenty
refuse few-draws twenty
echo '{"nu": null, "mu": [0, 0], "sigma": [[0.04, 0], [0, 0.04]]}' > narrow.json
"$gess" sample gaussian:dim=2 --schedule fixed --approx narrow.json --draws 400 -o narrow -q || fail narrow
refuse not-covered narrow
refuse k-hat narrow
echo '{"nu": null, "mu": [0, 0], "sigma": [[1, 0], [0, 1]]}' > normal.json
"$gess" sample student-t:dim=2,nu=1 --schedule fixed --approx normal.json --draws 400 -o cauchy -q || fail cauchy
refuse k-hat cauchy
cat > cauchy.c <<'END'
#include <gess/gess.h>
#include <math.h>
const unsigned gess_plugin_abi = GESS_ABI;
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        out[i] = 0.0;
        for (size_t j = 0; j < dim; j++) out[i] -= log1p(x[i * dim + j] * x[i * dim + j]);
    }
    return 0;
}
int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size)
{
    (void)data, (void)message, (void)size;
    d->dim = 5;
    d->logp = logp;
    return 0;
}
END
cc -O1 -shared -fPIC -I"$source/include" -o cauchy.so cauchy.c -lm || fail "cannot build cauchy.c"
# (with one t, chains hardly see the tails; the default schedule learns them)
"$gess" sample ./cauchy.so --schedule pooled --target-ess 400 -o tails -q || fail tails
refuse slow-tails tails
density far
"$gess" sample ./far.so --schedule pooled --draws 500 --warmup 200 -o stuck -q || fail stuck
"$gess" evidence stuck > /dev/null
[ $? -eq 6 ] || fail "chains that are stuck in their modes are not refused"
"$gess" sample ./far.so -o modes -q || fail modes
"$gess" evidence modes --json > out.json || fail "evidence of modes: $(cat out.json)"
near 0 modes
grep -q '"annealing"' out.json || fail "no estimate by annealing"
sed '0,/"fate": "kept"/s//"fate": "lost"/' modes/history.json > history.json
cmp -s history.json modes/history.json && fail "history.json has no basin"
mv history.json modes/history.json
refuse basin-lost modes

# ---- other faults ----
expect 5 'gess: unable to open nowhere/config.json: No such file' "$gess" evidence nowhere
expect 1 'which run' "$gess" evidence
cat > data.c <<'END'
#include <gess/gess.h>
#include <stdio.h>
const unsigned gess_plugin_abi = GESS_ABI;
static double mean;
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) out[i] = -0.5 * (x[i * dim] - mean) * (x[i * dim] - mean) - 0.5 * x[i * dim] * x[i * dim];
    return 0;
}
static int log_prior(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) out[i] = -0.5 * x[i * dim] * x[i * dim];
    return 0;
}
int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size)
{
    FILE *file = fopen(data, "r");
    if (file == NULL || fscanf(file, "%lf", &mean) != 1) return snprintf(message, size, "no data") > 0;
    fclose(file);
    d->dim = 1;
    d->logp = logp;
    d->log_prior = log_prior;
    return 0;
}
END
cc -O1 -shared -fPIC -I"$source/include" -o data.so data.c || fail "cannot build data.c"
echo 1 > a.txt
echo 2 > b.txt
"$gess" sample ./data.so --data a.txt -o one -q || fail one
"$gess" sample ./data.so --data b.txt -o two -q --seed 2 || fail two
# ∫ exp(−(x − m)²/2 − x²/2) dx = √π e^(−m²/4)
"$gess" evidence one --json > out.json || fail "evidence of one"
near 0.32236494292 one
# E log L = −E (x − m)²/2 with x ~ N(m/2, 1/2): −(1/2 + 1/4)/2, minus log Z
awk -v i="$(sed -n 's/.*"information": \([0-9.e+-]*\).*/\1/p' out.json)" 'BEGIN { d = i + 0.375 + 0.32236494292; exit !(d < 0.05 && d > -0.05) }' ||
    fail "the information is wrong: $(cat out.json)"
expect 0 'information' "$gess" evidence one

# ---- Bayes factors ----
expect 0 'log Bayes factor' "$gess" compare one two
expect 0 'have different data' "$gess" compare one two
expect 0 'the mean fit makes' "$gess" compare one two
"$gess" compare one two --json > out.json || fail "compare --json"
# −(4 − 1)/4
awk -v b="$(sed -n 's/.*"log_bayes_factor": \(-[0-9.e+-]*\).*/\1/p' out.json)" 'BEGIN { d = b + 0.75; exit !(d < 0.05 && d > -0.05) }' ||
    fail "the Bayes factor is wrong: $(cat out.json)"
expect 6 'refused' "$gess" compare run five
expect 0 'neither' "$gess" compare run mh
expect 1 'which runs' "$gess" compare run
# built-in models with data say how many there are, and some give their prior apart. Evidence and information of eight
# schools, known by quadrature, do not depend on the parametrisation.
for name in eight-schools eight-schools:centred=0; do
    "$gess" sample $name -o "$name" -q --seed 4 --target-evidence-error 0.008 || fail "sample $name"
    "$gess" evidence "$name" --json > out.json || fail "evidence of $name: $(cat out.json)"
    near -31.3113474 "$name"
    sed -n 's/.*"information": \([0-9.e+-]*\).*/\1/p' out.json >> informations
done
awk '{ d = $1 - 1.1114264; n += d < 0.1 && d > -0.1 } END { exit n != 2 }' informations ||
    fail "informations: $(cat informations)"
"$gess" sample german-credit -o credit -q || fail german-credit
"$gess" evidence credit --json > out.json || fail "evidence of credit: $(cat out.json)"
awk -v se="$(number se)" -v n="$(number evals)" 'BEGIN { exit !(se > 0 && se <= 0.02 && n <= 5000) }' ||
    fail "german-credit: $(number se) for $(number evals) evaluations"
expect 0 'have different data' "$gess" compare eight-schools credit
echo 3 > a.txt
expect 2 'have changed since' "$gess" evidence one
[ "$failed" -eq 0 ] && echo ok
exit "$failed"
