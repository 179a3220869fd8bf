#!/bin/sh
# The bitwise promise over ranks: the same draws.gess, and history.json but for its times, for ranks {1,2,3,4} ×
# threads {1,2} on two models with `auto` and `two-group`; and guests must have worked for it.
#   matrix.sh GESS SOURCE_FOLDER
# shellcheck disable=SC2086
set -eu
. "$(dirname "$0")/launch.sh"
sleeping
export SLEEPING_SECONDS=0.00005
runs=0
tasks=0
for model in german-credit ./sleeping.so; do
    for schedule in auto two-group; do
        options="--schedule $schedule --chains 40 --max-warmup-evals 12000 --draws 20 --thin 2 --seed 5 --quiet"
        [ $model = german-credit ] || options="$options --warmup 8 --reuse 2"
        "$gess" sample $model $options --threads 1 -o first
        grep -v '"seconds_' first/history.json > first.txt
        for count in 1 2 3 4; do
            for threads in 1 2; do
                ranks $count "$gess" sample $model $options --threads $threads -o run ||
                    fail "$model, $schedule, $count ranks, $threads threads: status $?"
                grep -v '"seconds_' run/history.json > run.txt
                cmp run/draws.gess first/draws.gess || fail "$model, $schedule: $count ranks, $threads threads give other draws"
                cmp run.txt first.txt || fail "$model, $schedule: $count ranks, $threads threads give another history"
                did=$(sed -n 's/.*rank [1-9].* tasks \([0-9]*\) .*/\1/p' run/log.txt | awk '{ s += $1 } END { print s + 0 }')
                lines=$(grep -c '  rank [1-9]' run/log.txt || true)
                [ "$lines" -eq $((count - 1)) ] || fail "$model, $schedule: $lines ranks in the log in place of $((count - 1))"
                [ $model = german-credit ] || [ $count -eq 1 ] || [ "$did" -ge 10 ] || fail "$schedule: guests did $did tasks"
                tasks=$((tasks + did))
                runs=$((runs + 1))
                rm -r run
            done
        done
        ranks 2 "$gess" sample $model $options --seed 6 -o run
        if cmp -s run/draws.gess first/draws.gess; then fail "$model, $schedule: another seed gives the same draws"; fi
        rm -r first run
    done
done
# kernels without an approximation carry what they adapt with them; temperatures
for options in 'german-credit --kernel nuts --chains 6' 'german-credit --kernel amh --chains 12' \
    'mixture --kernel mh --schedule tempering --ladder tuned --chains 12'; do
    options="$options --warmup 300 --draws 50 --block 1 --threads 1 --quiet"
    "$gess" sample $options -o first
    ranks 3 "$gess" sample $options -o run || fail "$options, 3 ranks: status $?"
    cmp run/draws.gess first/draws.gess || fail "$options: 3 ranks give other draws"
    runs=$((runs + 1))
    rm -r first run
done
echo "$runs runs, equal bytes; $tasks tasks on other ranks"
