#!/bin/sh
# The bitwise promise: the same draws.gess, and history.json except its times, for any threads, any block size and any
# speculation, on three models, with two schedules; with every kernel; with `auto` when it uses a map, a mixture and
# independence moves, and when it anneals. Another seed gives other bytes.
#   bitwise.sh GESS SOURCE_FOLDER
set -eu
gess=$1
source=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
runs=0
# same WHAT HOW: the run has the bytes of the first one
same()
{
    grep -v '"seconds_' run/history.json > history
    if [ ! -f first ]; then
        cp run/draws.gess first
        cp history first_history
    elif ! cmp history first_history; then
        echo "$1: $2 gives another history than the first run"
        exit 1
    elif ! cmp run/draws.gess first; then
        echo "$1: $2 gives other draws than the first run"
        exit 1
    fi
    runs=$((runs + 1))
    rm -r run
}
# other WHAT: the run, with another seed, has other draws
other()
{
    if cmp -s run/draws.gess first; then
        echo "$1: another seed gives the same draws"
        exit 1
    fi
    rm -r run first first_history
}
for model in german-credit funnel wishart:dim=60; do
    for schedule in pooled two-group; do
        options="--schedule $schedule --chains 40 --max-warmup-evals 20000 --draws 30 --thin 2 --seed 5 --quiet"
        for threads in 1 2 8; do
            for how in '1 16' '3 off' '8 2' '0 auto'; do
                block="${how% *} with --speculate ${how#* }"
                "$gess" sample "$model" $options --threads $threads --block "${how% *}" --speculate "${how#* }" -o run
                same "$model, $schedule" "threads $threads, block $block"
            done
        done
        "$gess" sample "$model" $options --seed 6 -o run
        other "$model, $schedule"
    done
done
# `auto` with everything it learns: in_use RUN PATTERN... checks that the last map search matches every pattern
in_use()
{
    run=$1
    shift
    grep '^ .*map searches [1-9]' "$run/log.txt" | tail -n 1 > choice || true
    for pattern; do
        grep -Eq "$pattern" choice || {
            echo "$run: '$pattern' is not what auto chose: $(cat choice)"
            exit 1
        }
    done
}
map='map (scale|skew)'
components='components ([2-9]|1[0-6]) '
moves='independence moves [1-9]'
# auto MODEL SEED PATTERN...: equal bytes, and the patterns of what must be in use
auto()
{
    model=$1
    options="--chains 24 --max-warmup-evals 20000 --draws 100 --seed $2 --quiet"
    shift 2
    for how in '1 1' '1 0' '2 5' '2 0' '8 1' '8 8'; do
        "$gess" sample "$model" $options --threads "${how% *}" --block "${how#* }" -o run
        in_use run "$@"
        same "$model, auto" "threads and block $how"
    done
    "$gess" sample "$model" $options --seed 4 -o run
    other "$model, auto"
}
auto funnel 2 "$map" "$moves"
auto eight-schools 6 "$map"
auto mixture 6 "$components" "$moves"
# annealing: of a box with four modes, which `auto` anneals by itself, and of far modes; some runs speculate
# annealed MODEL OPTION...
annealed()
{
    model=$1
    shift
    options="--chains 24 --draws 40 --seed 3 --quiet"
    for how in '1 1 off' '2 5 16' '8 0 auto'; do
        block=${how#* }
        "$gess" sample "$model" $options "$@" --threads "${how%% *}" --block "${block% *}" --speculate "${how##* }" -o run
        grep -q '"method": "annealed; .* [2-9] components' run/summary.json || {
            echo "$model was not annealed, or has no mixture: $(grep method run/summary.json)"
            exit 1
        }
        same "$model $*" "threads, block and speculation $how"
    done
    "$gess" sample "$model" $options "$@" --seed 4 -o run
    other "$model $*"
}
cc -std=c17 -O2 -fPIC -shared -I "$source/include" -o four_modes.so "$source/tests/data/models/four_modes.c" -lm
annealed ./four_modes.so --warmup 30
annealed mixture --schedule annealed --max-warmup-evals 20000
annealed ./four_modes.so --schedule annealed --ensembles 2 --chains 40 --warmup 30
# kernels without an approximation, which adapt in warm-up, and tempering with a tuned ladder
# no_approx MODEL OPTION...
no_approx()
{
    model=$1
    shift
    for how in '1 1' '2 5' '8 0'; do
        "$gess" sample "$model" --warmup 60 --draws 30 "$@" --seed 3 --threads "${how% *}" --block "${how#* }" --quiet -o run
        same "$model $*" "threads and block $how"
    done
    "$gess" sample "$model" --warmup 60 --draws 30 "$@" --seed 4 --quiet -o run
    other "$model $*"
}
for kernel in rdss cwss mh amh nuts nuts-dense; do
    no_approx german-credit --kernel $kernel --chains 20
    no_approx stochastic-volatility --kernel $kernel --chains 11
done
no_approx mixture --kernel mh --schedule tempering --chains 20 --ensembles 2 --hottest 10
no_approx mixture --kernel mh --schedule tempering --chains 8 --ladder tuned --warmup 700
# two ensembles, and stop rules that end the run
for threads in 1 2 8; do
    "$gess" sample mixture --chains 60 --ensembles 3 --max-warmup-evals 30000 --target-rhat 1.1 --threads $threads --quiet -o "run$threads"
done
cmp run1/draws.gess run2/draws.gess
cmp run1/draws.gess run8/draws.gess
echo "$runs runs, equal bytes"
