#!/bin/sh
# Several ranks against one, by MPI, and the bytes that they exchange:
#   breast-cancer   two ranks of one thread against one rank, sampling after warm-up; the median of five, in turn
#   sleeping        N ranks (32) with a density that sleeps 5 ms, against the ideal; also with one rank ten times slower
#   few             4 and 2 chains on 16 ranks, with a density that sleeps 10 ms and takes about 5 evaluations per update:
#                   with speculation by the ranks without a task, against without
#   bench.sh GESS [RANKS [PART...]]
# shellcheck disable=SC2086
set -eu
gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
many=${2:-32}
[ $# -gt 2 ] && shift 2 || set -- breast-cancer sleeping few
parts=" $* "
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

field() { sed -n "s/.*\"$2\": \([0-9.e+-]*\),*\$/\1/p" "$1" | head -n 1; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

wanted() { case $parts in *" $1 "*) true ;; *) false ;; esac; }

breast_cancer()
{
    for trial in 1 2 3 4 5; do
        for ranks in 1 2; do
            rm -rf run
            # processor time as well, which a busy machine does not distort
            { command time -f '%U %S' mpirun -n $ranks "$gess" sample breast-cancer --schedule pooled --warmup 100 --draws 12000 \
                --threads 1 --seed 5 -q -o run; } 2> time.txt
            field run/history.json seconds_sampling >> seconds$ranks.txt
            tail -n 1 time.txt | awk '{ print $1 + $2 }' >> processor$ranks.txt
            [ $trial -ne 1 ] || cp run/draws.gess draws$ranks.gess
        done
    done
    cmp draws1.gess draws2.gess
    echo "breast-cancer, sampling: one rank $(median < seconds1.txt) s, two $(median < seconds2.txt) s:" \
        "$(echo "$(median < seconds1.txt) $(median < seconds2.txt)" | awk '{ printf "%.2f", $1 / $2 }') times as fast (goal 1.9);" \
        "processor time, whole runs: $(median < processor1.txt) s and $(median < processor2.txt) s"
    grep -o 'rank 1 .*bytes.*' run/log.txt
}

sleeping()
{
    export SLEEPING_SECONDS=0.005
    for slow in -1 1 0; do
        rm -rf run
        SLEEPING_SLOW=$slow mpirun -n "$many" "$gess" sample ./sleeping.so --schedule pooled --chains 100 --warmup 60 --draws 500 \
            --threads 1 --seed 5 -q -o run
        seconds=$(field run/history.json seconds_sampling)
        evals=$(field run/summary.json evals_sampling)
        echo "sleeping, $many ranks, of which rank $slow is ten times slower (-1: none): sampling $seconds s," \
            "$(echo "$evals $seconds $many $slow" | awk '{ w = $4 < 0 ? $3 : $3 - 0.9; printf "%.3f", $1 * 0.005 / w / $2 }') of the ideal (goal 0.9)"
        grep -oE 'bytes (an|per) update:.*' run/log.txt | awk '{ to += $4; from += $7 } END { printf "  bytes per update and rank: %.0f to it, %.0f from it\n", to / NR, from / NR }'
    done
}

few()
{
    export SLEEPING_SECONDS=0.01 SLEEPING_SHELL=0.05
    for chains in 4 2; do
        for speculate in off auto; do
            rm -rf run
            mpirun -n 16 "$gess" sample ./sleeping.so --schedule pooled --chains $chains --warmup 60 --draws 150 \
                --threads 1 --speculate $speculate --seed 5 -q -o run
            cp run/draws.gess few_$speculate.gess
            field run/history.json seconds_sampling > few_$speculate.txt
            field run/summary.json evals_sampling > evals_$speculate.txt
        done
        cmp few_off.gess few_auto.gess
        cmp evals_off.txt evals_auto.txt
        evals=$(cat evals_auto.txt)
        echo "few, $chains chains on 16 ranks, sampling: $(cat few_off.txt) s without speculation, $(cat few_auto.txt) s with:" \
            "$(cat few_off.txt few_auto.txt | awk '{ t[NR] = $1 } END { printf "%.2f", t[1] / t[2] }') times as fast;" \
            "$(echo "$evals $chains" | awk '{ printf "%.1f", $1 / $2 / 150 }') evaluations per update," \
            "$(field run/summary.json evals_speculative) more were unused, beside the whole run's $(field run/summary.json evals)"
    done
}

cc -std=c17 -D_DEFAULT_SOURCE -O2 -shared -fPIC -I "$source/include" -o sleeping.so "$source/bench/mpi/sleeping.c" -lm
! wanted breast-cancer || breast_cancer
! wanted sleeping || sleeping
! wanted few || few
