#!/bin/sh
# A run whose warm-up is cut off far too early learns again, converges, and has the same bytes for any number of threads
# and wherever it was stopped. One that is cut off while the ensemble moves fails, and the command that the verdict gives
# mends it. Words about a time limit that ends a run while it is learning: sh relearn.sh GESS
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"
set -e
options='eight-schools --max-warmup-evals 5000 --max-evals 3000000 -q'

# $options is several words
# shellcheck disable=SC2086
"$gess" sample $options --threads 1 --save-warmup -o straight >/dev/null
grep -q 'T disappoints' straight/log.txt || fail 'the run did not learn again'
grep -q 'economy: sampling with this T would take' straight/log.txt || fail 'log.txt has no forecast'
"$gess" diagnose straight >/dev/null || fail 'the run does not pass'

# every checkpoint is a place to go on from, also those before draws are given up
stops=0
limit=0.05 # longer from stop to stop, so that the test ends on slow machines
status=3
while [ "$status" -eq 3 ] && [ ! -e stopped/checkpoint ]; do # a slow machine may stop before there is a run
    # shellcheck disable=SC2086
    "$gess" sample $options --threads 2 --checkpoint-every 7 --max-time "$limit" --save-warmup --overwrite -o stopped \
        >/dev/null 2>&1 && status=0 || status=$?
    limit=$(awk -v limit="$limit" 'BEGIN { print 1.2 * limit }')
done
while [ "$status" -eq 3 ] && [ "$stops" -lt 50 ]; do
    stops=$((stops + 1))
    limit=$(awk -v limit="$limit" 'BEGIN { print 1.2 * limit }')
    "$gess" resume stopped --threads $((stops % 2 + 1)) --max-time "$limit" -q >/dev/null 2>&1 && status=0 || status=$?
done
[ "$status" -eq 0 ] || fail "resuming ended with status $status"
[ "$stops" -gt 2 ] || fail "the run was stopped $stops times only"
cmp straight/draws.gess stopped/draws.gess
cmp straight/warmup.gess stopped/warmup.gess

# a time limit that will end the run while it is learning is said early, one that will not is not
said=0
for limit in 0.2 0.4 0.8 1.6 3.2; do # one of them is right for this machine
    "$gess" sample breast-cancer --max-time "$limit" --overwrite -o late >late.txt 2>&1 || true
    grep -q 'at this pace the time limit ends the run while it is learning' late.txt || continue
    grep -q 'at this pace --max-time ends the run while it is learning' late/log.txt || fail 'log.txt does not say it'
    said=1
    break
done
[ "$said" -eq 1 ] || fail "no word that the time limit comes too early: $(cat late.txt)"
"$gess" sample gaussian --max-time 1h -o early >early.txt 2>&1
grep -q 'at this pace' early.txt early/log.txt && fail 'an hour is not enough'

# the first stage always counts as moving
"$gess" sample funnel --max-warmup-evals 1500 --draws 200 -q -o 'cut off' >/dev/null
"$gess" diagnose 'cut off' >out.txt && fail 'a warm-up that was cut off while the ensemble moved passes' || status=$?
[ "$status" -eq 6 ] || fail "diagnose ends with $status"
grep -q '^failure (warm-up-cut)' out.txt || fail "no finding warm-up-cut: $(cat out.txt)"
command=$(sed -n 's/^ *`gess \(sample .*\)`$/\1/p' out.txt)
case $command in
"sample funnel --config 'cut off/config.json' --max-warmup-evals 2000000 -o 'cut off-longer'") ;;
*) fail "another command: $command" ;;
esac
eval "\"\$gess\" $command -q" >/dev/null || fail "the command fails: $command"
"$gess" diagnose 'cut off-longer' >out.txt || fail "the command does not help: $(cat out.txt)"
"$gess" sample funnel --max-warmup-evals 1500 --max-evals 4000 -q -o little >/dev/null
"$gess" diagnose little >out.txt || true
grep -q -- '--max-warmup-evals 2000000 --max-evals 4000000 -o little-longer' out.txt || fail "no more evaluations: $(cat out.txt)"
exit $failed
