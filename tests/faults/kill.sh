#!/bin/sh
# kill -9 at random moments of start-up, warm-up, annealing and sampling, of new runs and of resumed ones, once and
# several times. `gess resume` must end with the draws of a run that was never killed, byte for byte.
#   kill.sh GESS [COUNT [SEED]]      COUNT kills, by default 200
set -u
case $1 in */*) gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") ;; *) gess=$1 ;; esac
count=${2:-200}
state=${3:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail()
{
    echo "FAILED: $* (kill $kills of configuration $number, seed ${seed:-1})"
    [ -d run ] && ls -l run && tail -n 3 run/log.txt
    cat out.txt
    exit 1
}

# random N: a number of 0 .. N - 1 into $random (Park and Miller)
random()
{
    state=$((state * 48271 % 2147483647))
    random=$((state / 7 % $1))
}

configuration()
{
    case $1 in
    1) options='german-credit --chains 40 --warmup 200 --draws 300 --checkpoint-every 20' ;;
    2) options='wishart:dim=20 --schedule two-group --chains 60 --warmup 100 --draws 100 --reuse 3 --checkpoint-every 7' ;;
    3) options='mixture --ensembles 2 --chains 60 --target-ess 500 --checkpoint-every 20' ;;
    4) options='german-credit --chains 40 --warmup 150 --draws 150 --thin 2 --save-warmup --checkpoint-every 25' ;;
    5) options='mixture --chains 30 --max-warmup-evals 60000 --draws 2000 --save-warmup' ;;
    6) options='mixture --ensembles 3 --schedule two-group --chains 60 --warmup 100 --draws 500 --checkpoint-every 50' ;;
    7) options='funnel --chains 24 --max-warmup-evals 20000 --draws 1000 --checkpoint-every 15' ;;
    8) options='mixture --schedule annealed --chains 24 --warmup 10 --draws 200 --checkpoint-every 100' ;;
    esac
}
configurations=8
annealed=8 # the one that anneals

milliseconds()
{
    echo $(($(date +%s%N) / 1000000))
}

# Starts "$@" and kills it after a random part of $duration. Status: 137 if it was killed.
killed_after_a_while()
{
    random 4
    if [ "$random" -eq 0 ]; then random 40; else random $((duration + 20)); fi
    delay=$random
    "$@" > out.txt 2>&1 &
    process=$!
    sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
    kill -9 $process 2> /dev/null
    wait $process 2> /dev/null
}

# steps RUN: prints how many steps of annealing are in its log
steps()
{
    if [ -f "$1/log.txt" ]; then grep -c 'annealing: power' "$1/log.txt"; else echo 0; fi
}

duration=0 # milliseconds of the run that was not killed
kills=0
number=0
seed=$state
while [ $number -lt $configurations ]; do
    number=$((number + 1))
    configuration $number
    begun=$(milliseconds)
    # shellcheck disable=SC2086
    "$gess" sample $options --threads 2 -q -o "whole$number" > out.txt 2>&1 || fail "sample $options"
    eval "duration$number=$(($(milliseconds) - begun))"
done

number=0
fresh=0
incomplete=0
annealing=0 # kills between two steps of annealing; further kills follow until there is one
while [ $kills -lt "$count" ] || { [ $annealing -eq 0 ] && [ $kills -lt $((count + 40)) ]; }; do
    number=$((number % configurations + 1))
    [ $kills -lt "$count" ] || number=$annealed
    configuration $number
    eval "duration=\$duration$number"
    rm -rf run
    random 3
    # shellcheck disable=SC2086
    killed_after_a_while "$gess" sample $options --threads $((random + 1)) -q -o run
    status=$?
    while [ $status -eq 137 ]; do
        kills=$((kills + 1))
        [ $number -ne $annealed ] || [ "$(steps run)" -eq 0 ] || [ "$(steps run)" -ge "$(steps whole$annealed)" ] ||
            annealing=$((annealing + 1))
        if [ ! -e run/config.json ]; then
            # killed before there was a run to resume: resume says so, and a new run starts in the same place
            fresh=$((fresh + 1))
            "$gess" resume run > out.txt 2>&1
            status=$?
            [ $status -eq 1 ] || fail "resume of nothing ends with $status"
            # shellcheck disable=SC2086
            "$gess" sample $options -q -o run > out.txt 2>&1
            status=$?
            break
        fi
        random 3
        threads=$((random + 1))
        random 2
        if [ "$random" -eq 0 ] && [ $kills -lt "$count" ]; then
            killed_after_a_while "$gess" resume run --threads $threads -q
        else
            "$gess" resume run --threads $threads -q > out.txt 2>&1
        fi
        status=$?
    done
    [ $status -eq 0 ] || fail "status $status"
    cmp "whole$number/draws.gess" run/draws.gess || fail "other draws"
    [ ! -e "whole$number/warmup.gess" ] || cmp "whole$number/warmup.gess" run/warmup.gess || fail "other warm-up"
    [ -e run/summary.json ] || incomplete=$((incomplete + 1))
done
[ $incomplete -eq 0 ] || fail "$incomplete runs that were killed between their last draw and their summary never got one"
[ $annealing -gt 0 ] || fail "no kill came in annealing"
echo "$kills kills, $fresh of them before config.json was there, $annealing in annealing: the draws are always the same"
