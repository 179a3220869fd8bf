#!/bin/sh
# The bitwise promise over ranks: the same draws.gess, and history.json but for its times, for ranks {1,2,3,4} ×
# threads {1,2} on two models with `auto` and `two-group`, and with annealing; and helper ranks must have done tasks.
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
        together=0
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
                tasks=$((tasks + did))
                together=$((together + did))
                runs=$((runs + 1))
                rm -r run
            done
        done
        # on a busy machine the helper ranks of one run may come too late, not those of six
        [ $model = german-credit ] || [ "$together" -ge 60 ] || fail "$schedule: helper ranks did only $together tasks in six runs"
        ranks 2 "$gess" sample $model $options --seed 6 -o run
        if cmp -s run/draws.gess first/draws.gess; then fail "$model, $schedule: another seed gives the same draws"; fi
        rm -r first run
    done
done
# kernels without an approximation, whose state travels with the chains; tempering
for options in 'german-credit --kernel nuts --chains 6' 'german-credit --kernel amh --chains 12' \
    'mixture --kernel mh --schedule tempering --ladder tuned --chains 12'; do
    options="$options --warmup 300 --draws 50 --block 1 --threads 1 --quiet"
    "$gess" sample $options -o first
    ranks 3 "$gess" sample $options -o run || fail "$options, 3 ranks: status $?"
    cmp run/draws.gess first/draws.gess || fail "$options: 3 ranks give other draws"
    runs=$((runs + 1))
    rm -r first run
done
# annealing: the particles travel as chains do, at any power of the density
cc -std=c17 -O2 -fPIC -shared -I "$source/include" -o four_modes.so "$source/tests/data/models/four_modes.c" -lm ||
    fail "four_modes.c does not compile"
for options in './four_modes.so --warmup 30 --chains 24' './sleeping.so --schedule annealed --warmup 8 --chains 40'; do
    options="$options --draws 50 --quiet"
    SLEEPING_SECONDS=0 "$gess" sample $options --threads 1 -o first
    grep -v '"seconds_' first/history.json > first.txt
    grep -q '"method": "annealed; ' first/summary.json || fail "$options: $(grep method first/summary.json)"
    for how in '2 2' '4 1'; do
        ranks "${how% *}" "$gess" sample $options --block 5 --threads "${how#* }" -o run ||
            fail "$options, ranks and threads $how: status $?"
        grep -v '"seconds_' run/history.json > run.txt
        cmp run/draws.gess first/draws.gess || fail "$options: ranks and threads $how give other draws"
        cmp run.txt first.txt || fail "$options: ranks and threads $how give another history"
        did=$(sed -n 's/.*rank [1-9].* tasks \([0-9]*\) .*/\1/p' run/log.txt | awk '{ s += $1 } END { print s + 0 }')
        [ "${options#./four}" != "$options" ] || [ "$did" -ge 100 ] || fail "annealing: helper ranks did only $did tasks"
        tasks=$((tasks + did))
        runs=$((runs + 1))
        rm -r run
    done
    rm -r first
done
# starts from the draws of another run, which rank 0 reads
"$gess" sample mixture --chains 12 --warmup 50 --draws 40 --quiet -o source
options='mixture --init-from source --best --chains 10 --warmup 50 --draws 50 --threads 1 --quiet'
"$gess" sample $options -o first
ranks 3 "$gess" sample $options -o run || fail "$options, 3 ranks: status $?"
cmp run/draws.gess first/draws.gess || fail "$options: 3 ranks give other draws"
ranks 2 "$gess" sample banana --init-from source --quiet -o other && fail "another model is not refused on 2 ranks"
grep -q 'that run has 8 parameters' err.txt || fail "2 ranks do not say why a run is refused"
runs=$((runs + 1))
rm -r first run source
# fewer chains than ranks: the ranks without a task speculate, if evaluations are slow or --speculate asks for it
export SLEEPING_SHELL=0.1
assigned=0
for how in '3 5 off 0.0015' '3 5 auto 0.0015' '2 4 6 0.0003' '4 3 auto 0.0015'; do
    # shellcheck disable=SC2086
    set -- $how
    options="./sleeping.so --schedule pooled --chains $1 --warmup 20 --draws 30 --threads 1 --quiet"
    SLEEPING_SECONDS=0 "$gess" sample $options --speculate off -o first
    grep -v '"seconds_' first/history.json > first.txt
    SLEEPING_SECONDS=$4 ranks "$2" "$gess" sample $options --speculate "$3" -o run || fail "$1 chains, $2 ranks: status $?"
    grep -v '"seconds_' run/history.json > run.txt
    cmp run/draws.gess first/draws.gess || fail "$1 chains, $2 ranks, --speculate $3: other draws"
    cmp run.txt first.txt || fail "$1 chains, $2 ranks, --speculate $3: another history"
    times=$(sed -n 's/.*assigned to speculate \([0-9]*\) times.*/\1/p' run/log.txt | awk '{ s += $1 } END { print s + 0 }')
    unused=$(sed -n 's/.*"evals_speculative": \([0-9]*\).*/\1/p' run/summary.json)
    case $3 in
    off) [ "$times" -eq 0 ] && [ "$unused" -eq 0 ] || fail "--speculate off: $times assignments, $unused evaluations not used" ;;
    *) [ "$1" -ge "$2" ] || { [ "$times" -gt 0 ] && [ "$unused" -gt 0 ]; } || fail "$1 chains, $2 ranks: $times assignments, $unused evaluations not used" ;;
    esac
    assigned=$((assigned + times))
    runs=$((runs + 1))
    rm -r first run
done
echo "$runs runs, equal bytes; $tasks tasks on other ranks, $assigned assignments to speculate"
