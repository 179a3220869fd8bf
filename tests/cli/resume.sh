#!/bin/sh
# Runs that are resumed after a kill, a signal, a time limit or a damaged checkpoint, with other threads or more draws;
# and runs repeated from their config.json. The bytes of the draws are always the same.
#   resume.sh GESS SOURCE_FOLDER
set -u
gess=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail()
{
    echo "FAILED: $*"
    exit 1
}

same()
{
    cmp "$1/draws.gess" "$2/draws.gess" || fail "$3"
    for run in "$1" "$2"; do grep -v '"seconds_' "$run/history.json" > "$run.history" || fail "$3: no history.json in $run"; done
    cmp "$1.history" "$2.history" || fail "$3: another history"
}

# ---- kill -9, in warm-up and in sampling, and go on with other threads ----
number=0
killed=0
for options in \
    'german-credit --chains 40 --max-warmup-evals 60000 --draws 200' \
    'wishart:dim=20 --schedule two-group --chains 60 --warmup 100 --draws 100 --reuse 3' \
    'mixture --ensembles 2 --chains 60 --target-rhat 1.03 --save-warmup'; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$gess" sample $options -q -o "whole$number" || fail "sample $options"
    for delay in 0 0.03 0.15; do # counted from the moment when the run exists
        rm -rf killed
        # shellcheck disable=SC2086
        "$gess" sample $options -q --checkpoint-every 10 -o killed &
        writer=$!
        while [ ! -f killed/config.json ] && kill -0 $writer 2> kill.txt; do sleep 0.005; done
        sleep $delay
        kill -9 $writer 2> kill.txt
        wait $writer 2> wait.txt
        [ $? -eq 137 ] && killed=$((killed + 1))
        "$gess" resume killed -q --threads 3 || fail "resume of: $options"
        same "whole$number" killed "killed after $delay s: $options"
        [ ! -f "whole$number/warmup.gess" ] || cmp "whole$number/warmup.gess" killed/warmup.gess ||
            fail "warm-up draws, killed after $delay s: $options"
    done
done
[ $killed -gt 0 ] || fail "every run ended before it was killed"

# ---- the same with everything `auto` learns: killed between two map searches, and in sampling ----
# searched RUN: prints how many of its stages came after a map search
searched()
{
    if [ -f "$1/log.txt" ]; then grep -c 'map searches [1-9]' "$1/log.txt"; else echo 0; fi
}

# kill_after CONDITION: kills the run as soon as the condition holds; fails if the run ended before
kill_after()
{
    # shellcheck disable=SC2086
    "$gess" sample $options -q --checkpoint-every 15 -o killed &
    writer=$!
    while kill -0 $writer 2> kill.txt; do
        eval "$1" && break
        sleep 0.01
    done
    kill -9 $writer 2> kill.txt
    wait $writer 2> wait.txt
    [ $? -eq 137 ]
}

between=0
sampling=0
for options in 'funnel --chains 24 --max-warmup-evals 20000 --draws 3000' 'mixture --chains 24 --max-warmup-evals 20000 --draws 3000 --save-warmup'; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$gess" sample $options -q -o "whole$number" || fail "sample $options"
    all=$(searched "whole$number")
    [ "$all" -gt 4 ] || fail "$options: auto searched for maps at $all stages only"
    grep -Eq 'map (scale|skew)|components ([2-9]|1[0-6]) ' "whole$number/log.txt" || fail "$options: auto learned nothing"
    for stage in 2 4; do
        rm -rf killed
        kill_after "[ \"\$(searched killed)\" -ge $stage ] && [ -f killed/checkpoint ]" &&
            [ "$(searched killed)" -lt "$all" ] && between=$((between + 1))
        "$gess" resume killed -q --threads 3 || fail "resume of: $options"
        same "whole$number" killed "killed after $stage stages with map searches: $options"
    done
    for _ in 1 2 3 4 5; do # this shell may be too slow for a run
        rm -rf killed
        kill_after "[ \"\$(searched killed)\" -ge $all ] && [ killed/checkpoint -nt killed/log.txt ]"
        hit=$?
        "$gess" resume killed -q --threads 3 || fail "resume of: $options"
        same "whole$number" killed "killed in sampling: $options"
        [ $hit -ne 0 ] || break
    done
    [ $hit -ne 0 ] || sampling=$((sampling + 1))
done
cmp "whole$number/warmup.gess" killed/warmup.gess || fail "warm-up draws of auto"
[ $between -gt 0 ] || fail "no run was killed between two map searches"
[ $sampling -gt 0 ] || fail "no run of auto was killed in sampling"
echo "auto: $between kills between map searches, $sampling in sampling"

# ---- annealing: killed between two of its steps ----
# steps RUN: prints how many steps of annealing are in its log
steps()
{
    if [ -f "$1/log.txt" ]; then grep -c 'annealing: power' "$1/log.txt"; else echo 0; fi
}

source=$(cd "$2" && pwd)
cc -std=c17 -O2 -fPIC -shared -I "$source/include" -o four_modes.so "$source/tests/data/models/four_modes.c" -lm ||
    fail "four_modes.c does not compile"
annealing=0
continued=0
for options in './four_modes.so --chains 24 --warmup 30 --draws 100' \
    'mixture --schedule annealed --chains 24 --warmup 10 --draws 100 --save-warmup'; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$gess" sample $options -q -o "whole$number" || fail "sample $options"
    all=$(steps "whole$number")
    [ "$all" -ge 4 ] || fail "$options: annealing took $all steps only"
    for step in 1 3; do
        rm -rf killed
        kill_after "[ \"\$(steps killed)\" -ge $step ] && [ -f killed/checkpoint ]" &&
            [ "$(steps killed)" -lt "$all" ] && annealing=$((annealing + 1))
        before=$(steps killed)
        "$gess" resume killed -q --threads 3 || fail "resume of: $options"
        [ "$(steps killed)" -lt $((before + all)) ] && continued=$((continued + 1)) # it did not begin again
        same "whole$number" killed "killed after $step steps of annealing: $options"
        [ ! -f "whole$number/warmup.gess" ] || cmp "whole$number/warmup.gess" killed/warmup.gess || fail "warm-up draws: $options"
    done
done
[ $annealing -gt 0 ] || fail "no run was killed in annealing"
[ $continued -gt 0 ] || fail "no run went on in the middle of annealing"
echo "annealing: $annealing kills between its steps, $continued runs went on there"

# ---- kernels that adapt, annealing, and tempering: stopped again and again by a time limit ----
for options in \
    'german-credit --kernel mh --chains 20 --warmup 300 --draws 4000' \
    'german-credit --kernel amh --chains 20 --warmup 300 --draws 2000' \
    'stochastic-volatility --kernel nuts --chains 6 --warmup 150 --draws 60' \
    'stochastic-volatility --kernel nuts-dense --chains 6 --warmup 150 --draws 60' \
    './four_modes.so --chains 24 --warmup 30 --draws 1000' \
    'mixture --kernel mh --schedule tempering --ladder tuned --chains 20 --ensembles 2 --warmup 900 --draws 4000'; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$gess" sample $options -q -o "whole$number" || fail "sample $options"
    limits='0.05 0.01 0.002' # seconds; shorter on a fast machine
    while [ -n "$limits" ]; do
        limit=${limits%% *}
        rm -rf pieces
        # shellcheck disable=SC2086
        "$gess" sample $options --max-time $limit -q -o pieces 2> err.txt
        status=$?
        if [ $status -eq 3 ] && [ ! -e pieces/config.json ]; then # longer on a busy one
            limits=$(awk -v limit=$limit 'BEGIN { print 3 * limit }')
            continue
        fi
        [ $status -eq 0 ] || break
        limits=${limits#"$limit"}
        limits=${limits# }
    done
    sessions=1
    while [ $status -eq 3 ] && [ $sessions -lt 300 ]; do
        limit=$(awk -v n=$sessions 'BEGIN { print n < 100 ? 0.05 : 0.001 * (n - 50) }') # what resuming takes at most
        "$gess" resume pieces -q --max-time $limit --threads $((sessions % 3 + 1)) 2> err.txt
        status=$?
        sessions=$((sessions + 1))
    done
    [ $status -eq 0 ] || fail "resume of: $options: $(cat err.txt)"
    [ $sessions -gt 1 ] || fail "$options: never stopped"
    same "whole$number" pieces "in $sessions sessions: $options"
done

# ---- a complete run stays as it is ----
sum=$(cat whole1/draws.gess whole1/checkpoint | cksum)
"$gess" resume whole1 > out.txt || fail "resume of a complete run"
grep -q 'nothing to do' out.txt || fail "it says so"
[ "$sum" = "$(cat whole1/draws.gess whole1/checkpoint | cksum)" ] || fail "a complete run was changed"

# ---- more draws ----
"$gess" sample mixture --chains 30 --warmup 50 --draws 40 -q -o short || fail "sample"
"$gess" resume short --draws 100 -q || fail "resume --draws"
"$gess" sample mixture --chains 30 --warmup 50 --draws 100 -q -o long || fail "sample"
same long short "extended"

# ---- from config.json, with and without changes ----
"$gess" sample --config long/config.json -q -o again || fail "--config"
same long again "repeated from config.json"
"$gess" sample --config long/config.json --seed 9 -q -o other || fail "--config --seed"
cmp -s long/draws.gess other/draws.gess && fail "another seed gives the same draws"
echo '{"model": "mixture", "options": {"chains": "many"}}' > bad.json
"$gess" sample --config bad.json -o bad 2> err.txt
[ $? -eq 1 ] || fail "a bad config.json ends with 1"
grep -q 'bad.json.*many' err.txt || fail "a bad config.json is named: $(cat err.txt)"

# ---- a signal: status 3, the command to resume with, and the same draws in the end ----
for signal in INT TERM USR1; do
    rm -rf stopped
    "$gess" sample german-credit --chains 40 --warmup 300 --draws 3000 -q -o stopped 2> err.txt &
    writer=$!
    for _ in $(seq 600); do # until it has begun
        sleep 0.1
        [ -f stopped/checkpoint ] && break
    done
    sleep 0.2
    kill -$signal $writer
    wait $writer
    status=$?
    if [ $status -eq 0 ]; then continue; fi # the run ended first
    [ $status -eq 3 ] || fail "SIG$signal ends with $status"
    grep -q 'gess resume stopped' err.txt || fail "SIG$signal: $(cat err.txt)"
    "$gess" resume stopped -q || fail "resume after SIG$signal"
    [ -d straight ] || "$gess" sample german-credit --chains 40 --warmup 300 --draws 3000 -q -o straight
    same straight stopped "SIG$signal"
done

# ---- damage: the run resumes from the checkpoint before; damaged draws and config are refused ----
rm -rf killed
"$gess" sample wishart:dim=20 --schedule two-group --chains 60 --warmup 100 --draws 100 --reuse 3 -q --checkpoint-every 10 \
    -o killed || fail "sample"
printf 'x' | dd of=killed/checkpoint bs=1 seek=100 conv=notrunc 2> dd.txt
"$gess" resume killed -q || fail "resume from the older checkpoint"
same whole2 killed "from the older checkpoint"
printf 'x' | dd of=killed/checkpoint bs=1 seek=100 conv=notrunc 2> dd.txt
rm -f killed/checkpoint.old
"$gess" resume killed 2> err.txt
[ $? -eq 5 ] || fail "a damaged checkpoint without an older one ends with 5"
grep -q 'damaged' err.txt || fail "damaged: $(cat err.txt)"
cp -r whole2 edited
sed 's/"draws": "100"/"draws": "900"/' whole2/config.json > edited/config.json
cmp -s whole2/config.json edited/config.json && fail "config.json was to be edited"
"$gess" resume edited 2> err.txt
[ $? -eq 5 ] || fail "an edited config.json ends with 5"
grep -q 'edited/config.json is not as the run wrote it' err.txt || fail "edited: $(cat err.txt)"
"$gess" resume nowhere 2> err.txt
[ $? -eq 1 ] || fail "resume of nothing ends with 1"

# ---- one writer at a time; a lock left by a dead process is ignored ----
"$gess" sample wishart:dim=100 --draws 1e9 --warmup 5 -q -o busy 2> busy.txt &
writer=$!
for _ in $(seq 600); do # until it has the lock
    sleep 0.1
    [ -f busy/checkpoint ] && break
done
"$gess" resume busy 2> err.txt
[ $? -eq 1 ] || fail "a second writer ends with 1"
grep -q "process $writer" err.txt || fail "the writer is named: $(cat err.txt)"
"$gess" sample mixture --overwrite -o busy 2> err.txt
[ $? -eq 1 ] || fail "--overwrite of a run that goes on ends with 1"
kill -9 $writer
wait $writer 2> wait.txt
"$gess" sample mixture --chains 20 --warmup 5 --draws 5 --overwrite -q -o busy || fail "a stale lock was respected"

echo "resumed runs have the same bytes"
