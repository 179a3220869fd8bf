#!/bin/sh
# A density or its data that changed while a run was stopped; a density that is not a function of its point.
#   changed.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"

options='--chains 8 --warmup 200 --threads 2'
trust=--trust-model
"$gess" resume --help | grep -q -- --trust-model || trust=

# sample_half NAME: a run of model.so with 500 of 2000 draws, in NAME; the model is the normal density, the data say 0
sample_half()
{
    build model
    echo 0 > data.csv
    rm -rf "$1"
    # shellcheck disable=SC2086
    try 0 "$gess" sample ./model.so --data data.csv $options --draws 500 -q -o "$1"
    cp -R "$1" before
}

same_files()
{
    for file in draws.gess checkpoint config.json; do
        cmp -s "before/$file" "$1/$file" || fail "$file was touched"
    done
    rm -rf before
}

# ---- hashes ----
sample_half run
for file in model.so data.csv; do
    grep -q "\"$(sha256sum $file | cut -d ' ' -f 1)\"" run/config.json || fail "the hash of $file is not in config.json"
done

# ---- nothing changed: silence, and the draws of a run that was never stopped ----
# shellcheck disable=SC2086
try 0 "$gess" sample ./model.so --data data.csv $options --draws 2000 -q -o whole
# shellcheck disable=SC2086
try 0 "$gess" resume run --draws 2000 -q $trust
silent
cmp whole/draws.gess run/draws.gess || fail "other draws"
# the same density compiled again, to other bytes
rm -rf before
sample_half run
build model -O2 -g
# shellcheck disable=SC2086
try 0 "$gess" resume run --draws 2000 -q $trust
silent
cmp whole/draws.gess run/draws.gess || fail "other draws with other code of the same density"
rm -rf before

# ---- another density, other data: refused, with chain, point and both values, and nothing is written ----
sample_half run
build model '-DVALUE=NORMAL - 0.001 * x[0] * x[0]'
# shellcheck disable=SC2086
try 2 "$gess" resume run --draws 2000 -q $trust
says 'the density has changed .*chain 1 is at alpha = [-0-9.e]*, beta = [-0-9.e]*, where the log density was [-0-9.e]* and is [-0-9.e]* now'
# the second value is what eval prints for that point
point=$(sed -n 's/.*alpha = \([^,]*\), beta = \([^,]*\),.*/\1,\2/p' err)
value=$(sed -n 's/.* and is \([-0-9.e]*\) now.*/\1/p' err)
echo "$point" | "$gess" eval ./model.so > eval.csv || fail "eval of the point"
[ "$(tail -n 1 eval.csv)" = "$value" ] || fail "the value $value is not that of eval, $(tail -n 1 eval.csv)"
same_files run
sample_half run
echo 0.01 > data.csv
# shellcheck disable=SC2086
try 2 "$gess" resume run --draws 2000 -q $trust
says 'the density has changed'
same_files run
# ... also where the log density is so large that half a nat is nothing beside it, in warm-up and in sampling
build huge '-DVALUE=NORMAL - 1e8'
for draws in 0 100; do
    echo 0 > data.csv
    rm -rf huge
    # shellcheck disable=SC2086
    if [ $draws -eq 0 ]; then
        try 3 "$gess" sample ./huge.so --data data.csv --chains 8 --warmup 1e6 --max-time 1s -q -o huge
    else
        try 0 "$gess" sample ./huge.so --data data.csv $options --draws $draws -q -o huge
    fi
    cp -R huge before
    echo 0.5 > data.csv
    try 2 "$gess" resume huge --draws 200 -q $trust
    says 'the density has changed'
    same_files huge
done
# put back, it goes on
echo 0 > data.csv
# shellcheck disable=SC2086
try 0 "$gess" resume run --draws 2000 -q $trust
cmp whole/draws.gess run/draws.gess || fail "other draws after a refusal"

# ---- values of slow calls since the last checkpoint are not those of another density ----
build model '-DBEFORE=rest(0.01 * (double)n)'
slow='./model.so --data data.csv --chains 32 --warmup 1 --draws 1 --threads 1 --schedule two-group -q'
echo 0.5 > data.csv
# shellcheck disable=SC2086
try 0 "$gess" sample $slow -o slow-whole
echo 0 > data.csv
rm -rf run
for seconds in 0.2 0.4 1 3; do # stopped among its starts
    # shellcheck disable=SC2086
    [ -s run/journal ] || "$gess" sample $slow --overwrite --max-time ${seconds}s -o run > out 2> err
done
[ -s run/journal ] || fail "no journal"
echo 0.5 > data.csv
try 0 "$gess" resume run -q $trust
cmp slow-whole/draws.gess run/draws.gess || fail "values of another density in a run"
echo 0 > data.csv

# ---- other bits: a warning, and a record ----
sample_half run
rm -rf before
build model '-DVALUE=NORMAL * (1 + 1e-12)'
# shellcheck disable=SC2086
try 0 "$gess" resume run --draws 2000 -q $trust
says 'warning: the density gives other bits .*relative difference [0-9.e-]*'
grep -q '"density_changed"' run/config.json || fail "config.json does not record the change"
grep -A 20 '"density_changed"' run/config.json | grep -q "$(sha256sum model.so | cut -d ' ' -f 1)" ||
    fail "the new hash is not recorded"
try 0 "$gess" diagnose run # config.json is whole

# ---- not a function of its point ----
build counter '-DVALUE=NORMAL + 1e-3 * call'
try 2 "$gess" sample ./counter.so --chains 8 -q -o counter
says 'not a function of its point: chain [0-9]* starts at alpha = .*, where the log density was .* and is .* when it is evaluated again'
[ ! -e counter ] || fail "a run directory without a run"
build noise '-DVALUE=NORMAL * (1 + 1e-13 * call)'
try 0 "$gess" sample ./noise.so --chains 8 --warmup 10 --draws 10 -q -o noise
says 'warning: the density gave other bits when its starts were evaluated again'
build batch '-DVALUE=NORMAL + (i > 0 ? 0.5 : 0)'
try 2 "$gess" sample ./batch.so --chains 8 -q -o batch
says 'depends on the other points of the call: chain [0-9]* starts at alpha'
build batchbits '-DVALUE=NORMAL * (1 + 1e-13 * (double)i)'
try 0 "$gess" sample ./batchbits.so --chains 8 --warmup 10 --draws 10 -q -o batchbits
says 'warning: the density depends on the batch .*--block .*--speculate off'

# ---- the evaluations of this check are not counted: one per chain alone, one in a batch ----
build count '-DBEFORE=fprintf(stderr, "points %zu\n", n)'
try 0 "$gess" sample ./count.so --chains 8 --warmup 10 --draws 10 --threads 1 --speculate off -q -o count
made=$(awk '/^points/ { sum += $2 } END { print sum }' err)
evals=$("$gess" summary --json count | sed -n 's/.*"evals": \([0-9]*\).*/\1/p')
[ "$made" -eq $((evals + 16)) ] || fail "$made evaluations were made and $evals counted"
echo "changed densities refused, other bits recorded, densities that are no functions found"
