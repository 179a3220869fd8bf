#!/bin/sh
# The evidence on several ranks: evidence.json and evidence.values are those of one process, bit for bit, also after a
# kill; helper ranks evaluate; and an error of the density on one of them is reported.
#   evidence.sh GESS SOURCE_FOLDER
# shellcheck disable=SC2086
set -eu
. "$(dirname "$0")/launch.sh"
sleeping
export SLEEPING_SECONDS=0
options='--draws 60 --chains 16 --seed 3 --quiet'
"$gess" sample ./sleeping.so $options --evidence --threads 1 -o one
[ -s one/evidence.json ] || fail "no evidence.json"

# with the run, and of a finished run, several runs one after the other
export SLEEPING_SECONDS=0.0005
for how in '2 1' '2 2' '3 1'; do
    ranks ${how% *} "$gess" sample ./sleeping.so $options --evidence --threads ${how#* } -o many || fail "$how: status $?"
    cmp one/evidence.json many/evidence.json || fail "$how: another evidence"
    cmp one/evidence.values many/evidence.values || fail "$how: other values"
    rm many/evidence.*
    ranks ${how% *} "$gess" evidence many --threads ${how#* } > /dev/null || fail "evidence, $how: status $?"
    cmp one/evidence.json many/evidence.json || fail "evidence, $how: it differs"
    head -c 5000 one/evidence.values > many/evidence.values # as after a kill
    ranks ${how% *} "$gess" compare one many --threads ${how#* } --json > out.json || fail "compare, $how: status $?"
    cmp one/evidence.json many/evidence.json || fail "compare, $how: it differs"
    [ "$(grep -c '"log_bayes_factor": -\{0,1\}0.0,' out.json)" -eq 2 ] || fail "compare, $how: $(cat out.json)"
    rm -r many
done

# a target that draws and evidence are computed for in turn, while the ranks are at hand
options='--chains 8 --target-ess 50 --target-rhat 2 --target-evidence-error 0.01 --seed 3 --quiet'
SLEEPING_SECONDS=0 "$gess" sample ./sleeping.so $options --threads 1 -o many
mv many two # a refusal's advice names the directory: both have the same
ranks 3 "$gess" sample ./sleeping.so $options --threads 1 -o many || fail "target: status $?"
cmp two/draws.gess many/draws.gess || fail "target: other draws"
cmp two/evidence.json many/evidence.json || fail "target: another evidence"
did=$(sed -n 's/.*rank [1-9].* points evaluated \([0-9]*\);.*/\1/p' many/log.txt | awk '{ s += $1 } END { print s + 0 }')
[ "$did" -gt 500 ] || fail "helper ranks evaluated $did points"
rm -r many

# killed while it evaluates, and begun again
rm -f one/evidence.*
SLEEPING_SECONDS=0.01 "$gess" evidence one --threads 1 --max-evals 3000 > /dev/null 2>&1 &
victim=$!
for _ in $(seq 600); do
    [ -s one/evidence.values ] && break
    sleep 0.1
done
kill -KILL "$victim"
wait "$victim" || true
kept=$(wc -c < one/evidence.values)
[ "$kept" -gt 0 ] && [ "$kept" -lt 24000 ] || fail "it was not killed in the middle: $kept bytes of values"
[ -f one/evidence.json ] && fail "it was not killed"
SLEEPING_SECONDS=0 "$gess" evidence one --threads 2 > /dev/null
cp one/evidence.json again.json
rm -f one/evidence.*
SLEEPING_SECONDS=0 "$gess" evidence one --threads 1 > /dev/null
cmp one/evidence.json again.json || fail "a killed evidence differs"

# an error on a helper rank ends it with a message that names the rank; infinity, with the point
rm -f one/evidence.*
for kind in error infinity; do
    status=0
    SLEEPING_SECONDS=0.001 SLEEPING_FAULT=1:$kind:3 ranks 2 "$gess" evidence one --threads 1 > /dev/null || status=$?
    [ "$status" -eq 2 ] || fail "$kind: status $status"
    [ "$kind" = infinity ] || grep -q 'rank 1 on ' err.txt || fail "$kind: no rank is named"
    [ "$kind" = error ] || grep -q 'the log density is +infinity at ' err.txt || fail "$kind: no point is named"
    [ ! -f one/evidence.json ] || fail "$kind: there is an evidence"
done
SLEEPING_SECONDS=0 ranks 2 "$gess" evidence one --threads 1 > /dev/null || fail "after errors: status $?"
cmp one/evidence.json again.json || fail "after errors: the evidence differs"
echo ok
