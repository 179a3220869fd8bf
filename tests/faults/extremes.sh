#!/bin/sh
# Extremes that must work: 1,000 threads; densities with threads of their own (OpenMP, OpenBLAS); 2,000 and 5,000
# dimensions; MPI ranks that are stopped and continued: after 3 seconds the run goes on, after 20 it has ended with a
# message and can be resumed. Always the same bytes.
#   extremes.sh GESS SOURCE_FOLDER threads|dimensions|ranks
set -u
part=$3
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"
limit=240 # a thousand threads take their time on a busy machine

# same WHAT RUN RUN: their draws have the same bytes
same()
{
    cmp "$2/draws.gess" "$3/draws.gess" || fail "$1: other draws"
}

# inside NAME FLAG...: a density with threads inside, on one thread and on three, killed and resumed
inside()
{
    name=$1
    shift
    cc -std=gnu17 -O1 -fPIC -shared -I "$source/include" "$@" -o "$name.so" "$source/tests/faults/threads_inside.c" -ldl 2> err ||
        return 0
    timeout 60 "$gess" eval "./$name.so" < /dev/null > out 2> err
    grep -q 'no OpenBLAS' err && return 0
    options="./$name.so --chains 16 --warmup 40 --draws 300 --checkpoint-every 20 -q"
    for threads in 1 3; do
        # shellcheck disable=SC2086
        try 0 "$gess" sample $options --threads $threads -o "$name-$threads"
    done
    same "$name" "$name-1" "$name-3"
    for seconds in 0.05 0.2 1; do # on a busy machine the first may be over before there is a run
        # shellcheck disable=SC2086
        try 3 "$gess" sample $options --max-time ${seconds}s -o "$name-resumed"
        [ ! -e "$name-resumed/config.json" ] || break
    done
    try 0 "$gess" resume "$name-resumed" -q --threads 2
    same "$name, resumed" "$name-1" "$name-resumed"
    try 0 "$gess" check "./$name.so" --starts 20
    done="$done $name"
}
done=
if [ "$part" = threads ]; then
    options='gaussian --chains 2000 --warmup 30 --draws 50 -q'
    # shellcheck disable=SC2086
    try 0 "$gess" sample $options --threads 1000 -o thousand
    # shellcheck disable=SC2086
    try 0 "$gess" sample $options --threads 2 -o two
    same "1,000 threads" thousand two
    done=' 1,000 threads'
    inside openmp -fopenmp
    inside blas -DBLAS
fi

if [ "$part" = dimensions ]; then
    for dim in 2000 5000; do
        options="gaussian:dim=$dim --chains 32 --warmup 10 --draws 5 -q"
        for threads in 1 2; do
            # shellcheck disable=SC2086
            timeout 3000 "$gess" sample $options --threads $threads -o "dim$dim-$threads" > out 2> err ||
                fail "$dim dimensions: status $?"
        done
        same "$dim dimensions" "dim$dim-1" "dim$dim-2"
        rm -rf dim*
        done="$done $dim dimensions"
    done
fi
if [ "$part" = ranks ] && command -v mpirun > out && "$gess" --version | grep -q 'MPI: yes'; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader,tcp OMPI_MCA_plm_rsh_agent=false
    options='german-credit --chains 40 --warmup 200 --draws 8000 -q'
    # shellcheck disable=SC2086
    try 0 "$gess" sample $options -o whole
    for case in '3 head' '3 tail' '20 head' '20 tail'; do
        seconds=${case% *}
        which=${case#* } # rank 0 has the lowest process number, another rank the highest
        rm -rf ranks
        # shellcheck disable=SC2086
        timeout 300 mpirun -n 3 "$gess" sample $options -o ranks > out 2> err &
        launcher=$!
        tries=0
        until [ -s ranks/checkpoint ] || [ $tries -ge 500 ]; do
            tries=$((tries + 1))
            sleep 0.02
        done
        victim=$(pgrep -f "^$gess sample .*-o ranks" | sort -n | $which -n 1)
        [ -n "$victim" ] || fail "no rank to stop"
        kill -STOP "$victim"
        sleep "$seconds"
        kill -CONT "$victim" 2> gone.txt # those that count as lost may have been ended
        wait $launcher
        status=$?
        [ $status -eq 0 ] || [ "$seconds" -ne 3 ] || fail "a rank stopped for $seconds s ($which): status $status"
        [ $status -ne 0 ] || [ "$case" != '20 head' ] || fail "rank 0 stopped for $seconds s did not end the run"
        if [ $status -ne 0 ]; then # without the other rank the run may have been finished before it counted as lost
            says 'silent'
            [ -z "$(pgrep -f "^$gess sample .*-o ranks")" ] || fail "a rank is left"
            try 0 "$gess" resume ranks -q
        fi
        same "a rank stopped for $seconds s ($which)" whole ranks
    done
    done="$done ranks stopped for 3 s, and for 20 s with a message and resumed"
fi
[ -n "$done" ] || exit 77
echo "these work:$done"
