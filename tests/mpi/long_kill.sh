#!/bin/sh
# kill -9 of a random rank at a random moment: all ranks are gone within 10 seconds, and `gess resume`, with another
# number of ranks, ends with the bytes of a run that was never killed.
#   long_kill.sh GESS SOURCE_FOLDER [BUILD_FOLDER [COUNT [SEED]]]
# shellcheck disable=SC2086
set -u
. "$(dirname "$0")/launch.sh"
sleeping
count=${4:-100}
state=${5:-1}
export SLEEPING_SECONDS=0.0001
limit=60

# random N: a number of 0 .. N - 1 into $random (Park and Miller)
random()
{
    state=$((state * 48271 % 2147483647))
    random=$((state / 7 % $1))
}

kills=0
early=0
slowest=0
while [ $kills -lt "$count" ]; do
    for model in 'german-credit --chains 40 --max-warmup-evals 60000 --draws 300' \
        './sleeping.so --chains 30 --warmup 40 --draws 300' \
        './sleeping.so --schedule two-group --reuse 3 --chains 30 --warmup 40 --draws 200' \
        './sleeping.so --schedule pooled --chains 2 --speculate 4 --warmup 40 --draws 4000'; do # idle ranks speculate
        options="$model --threads 1 --checkpoint-every 25 -q"
        name=whole$(echo "$model" | cksum | cut -d ' ' -f 1)
        [ -d "$name" ] || SLEEPING_SECONDS=0 "$gess" sample $options -o "$name" || fail "sample $model"
        rm -rf run
        random 4
        size=$((random + 1))
        mpirun -n $size "$gess" sample $options -o run > out.txt 2> err.txt &
        launcher=$!
        random 2500
        sleep "$(((random + 300) / 1000)).$(printf %03d $(((random + 300) % 1000)))"
        random $size
        victim=
        all=$(pgrep -P $launcher)
        for process in $all; do
            tr '\0' '\n' < "/proc/$process/environ" 2> /dev/null | grep -q "^OMPI_COMM_WORLD_RANK=$random\$" && victim=$process
        done
        [ -z "$victim" ] || kill -9 "$victim" 2> /dev/null
        begun=$(date +%s)
        for process in $launcher $all; do
            while kill -0 "$process" 2> /dev/null; do
                [ -n "$victim" ] && [ $(($(date +%s) - begun)) -ge 10 ] && fail "process $process lives 10 s after rank $random of $size was killed"
                sleep 0.05
            done
        done
        wait $launcher
        status=$?
        took=$(($(date +%s) - begun))
        [ -z "$victim" ] || [ $took -le $slowest ] || slowest=$took
        if [ ! -e run/config.json ]; then # killed before there was a run to resume
            early=$((early + 1))
        elif [ $status -ne 0 ]; then
            random 4
            ranks $((random + 1)) "$gess" resume run -q || fail "resume after kill $kills: status $?"
        fi
        [ ! -e run/config.json ] || cmp run/draws.gess "$name/draws.gess" || fail "kill $kills ($model, $size ranks): other draws"
        [ -z "$victim" ] || kills=$((kills + 1))
    done
done
echo "$kills kills, $early of them before config.json was there: all ranks gone within $slowest s, the draws always the same"
