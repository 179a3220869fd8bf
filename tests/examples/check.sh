#!/bin/sh
# Runs one example and checks what it prints, in a scratch folder.
#   check.sh NAME PROGRAM [PROGRAM_OF_shortest]
set -eu
name=$1
program=$(realpath "$2")
maker=${3:+$(realpath "$3")}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail()
{
    echo "examples: $name: $*" >&2
    exit 1
}

# near LINE FIELD TRUTH TOLERANCE: a number in a line of the output
near()
{
    sed -n "$1p" out | awk -v i="$2" -v truth="$3" -v tolerance="$4" \
        '{ d = $i - truth; good = d < tolerance && -d < tolerance } END { exit !good }' ||
        fail "line $1, field $2 should be near $3: $(cat out)"
}

lines()
{
    [ "$(wc -l < out)" -eq "$1" ] || fail "there should be $1 lines: $(cat out)"
}

case $name in
shortest)
    "$program" run > out || fail "status $?"
    grep -E '^(x1|x2|lp__) ' out > rows || fail "no table: $(cat out)"
    mv rows out
    lines 3
    near 1 2 0 0.15
    near 2 2 1 0.2
    [ -s run/draws.gess ] || fail "there is no run/draws.gess"
    status=0; "$program" run > out 2>&1 || status=$?
    { [ $status -eq 1 ] && grep -q 'run' out; } || fail "a run directory that exists: status $status, $(cat out)"
    status=0; "$program" > out 2>&1 || status=$?
    [ $status -eq 1 ] || fail "no argument: status $status" ;;
blobs)
    "$program" > out || fail "status $?"
    lines 5
    near 2 3 3.765 0.05 # Gamma(32, 8.5)
    near 3 3 -2.576 0.05
    grep -q '^log_likelihood: mean -' out || fail "no log_likelihood: $(cat out)" ;;
read_run)
    "$maker" run > log || fail "no run to read"
    "$program" run > out || fail "status $?"
    { grep -q '^chain 63: [0-9]* draws, lp__ up to ' out && grep -qE '^(PASS|FAIL), [0-9]+ findings' out &&
        grep -q '^x2: [0-9.]* ± ' out; } || fail "it printed $(cat out)"
    status=0; "$program" nowhere > out 2>&1 || status=$?
    [ $status -ne 0 ] || fail "a run that does not exist was read" ;;
stop)
    "$program" > out || fail "status $?: $(cat out)"
    lines 3
    # the second call of the stopped run ends where the single call of the other one does
    second=$(sed -n 's/^second call: //p' out)
    [ -n "$second" ] || fail "the first call was not stopped: $(cat out)"
    [ "$second" = "$(sed -n '3s/^first call: //p' out)" ] || fail "the draws differ: $(cat out)" ;;
two_runs)
    "$program" > out || fail "status $?"
    lines 2
    near 1 4 0 0.2
    near 2 4 0 0.2
    [ "$(sed -n 's/^seed .: //p' out | sort -u | wc -l)" -eq 2 ] || fail "two seeds gave the same: $(cat out)" ;;
sample_cpp)
    "$program" > out || fail "status $?"
    near 1 3 3.667 0.04 # 33/9, sd 0.638
    near 1 5 0.638 0.04 ;;
*) fail "there is no such example" ;;
esac
