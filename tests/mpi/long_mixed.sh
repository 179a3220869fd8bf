#!/bin/sh
# Mixed machines: ranks of two builds, one that uses this machine's vectors and one by another compiler for the baseline
# of the processor, make the draws and the history of one process, whichever of them is rank 0.
#   long_mixed.sh GESS SOURCE_FOLDER BUILD_FOLDER
# shellcheck disable=SC2086
set -eu
command -v clang >/dev/null || { echo 'clang is not installed'; exit 77; }
build=$(cd "$3" && pwd)/mixed
. "$(dirname "$0")/launch.sh"
sleeping
cmake -S "$source" -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS='-O1 -DGESS_NO_CLONES' -DCMAKE_BUILD_TYPE=None \
    -DGESS_TESTS=OFF -DGESS_CUDA=OFF -DGESS_NETCDF=OFF -DGESS_HDF5=OFF -DGESS_REPORT=OFF >"$folder/build.txt" &&
    cmake --build "$build" -j "$(nproc)" >>"$folder/build.txt" 2>&1 || { tail -n 20 "$folder/build.txt"; fail "clang's build"; }
other=$build/gess

# tasks: how many tasks the helper ranks of the run did
tasks()
{
    sed -n 's/.*rank [1-9].* tasks \([0-9]*\) .*/\1/p' run/log.txt | awk '{ s += $1 } END { print s + 0 }'
}

runs=0
done_elsewhere=0
export SLEEPING_SECONDS=0.00005
for options in 'german-credit --chains 40 --max-warmup-evals 12000 --draws 20' \
    'german-credit --chains 120 --schedule two-group --reuse 5 --warmup 40 --draws 20' \
    'eight-schools --chains 40 --max-warmup-evals 20000 --draws 20' \
    'mixture:spread=3 --schedule annealed --chains 24 --max-warmup-evals 20000 --draws 20' \
    './sleeping.so --warmup 8 --chains 40 --draws 20' \
    'german-credit --kernel nuts --chains 6 --warmup 100 --draws 20 --block 1'; do
    options="sample $options --seed 5 --threads 1 --quiet"
    "$gess" $options -o first
    grep -v '"seconds_' first/history.json >first.txt
    for order in "$gess $other" "$other $gess"; do
        one=${order% *} two=${order#* }
        timeout -k 5 300 mpirun -n 1 "$one" $options -o run : -n 2 "$two" $options -o run 2>err.txt ||
            fail "$one and $two, $options: status $?"
        grep -v '"seconds_' run/history.json >run.txt
        cmp run/draws.gess first/draws.gess || fail "$one and $two, $options: other draws"
        cmp run.txt first.txt || fail "$one and $two, $options: another history"
        done_elsewhere=$((done_elsewhere + $(tasks)))
        runs=$((runs + 1))
        rm -r run
    done
    rm -r first
done
[ "$done_elsewhere" -ge 50 ] || fail "helper ranks did only $done_elsewhere tasks"
echo "$runs runs, equal bytes; $done_elsewhere tasks on ranks of the other build"
