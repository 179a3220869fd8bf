#!/bin/sh
# --isolate: a density that crashes, exits, leaks or does not return costs a worker process. Draws are those of a run
# without isolation; the run goes on or ends by --on-crash, lists the points in crashes.csv, and leaves no process.
#   isolate.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"
trust=--trust-model
options='--chains 8 --warmup 100 --draws 1000 --checkpoint-every 20'
segfault='*(volatile int *)8 = 1'

# at NAME STATEMENT: a density that does this at points that some chain gets to
at()
{
    build "$1" '-DVALUE=(x[0] > 2.5 ? ({ '"$2"'; 0.0; }) : NORMAL)'
}

# nobody TEXT: no process whose command line has it is left
nobody()
{
    tries=0
    while pgrep -f "$1" > left; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fail "processes are left: $(ps -o pid,ppid,stat,args -p "$(paste -sd, left)")"
        sleep 0.1
    done
}

same()
{
    cmp "$1/draws.gess" "$2/draws.gess" || fail "$3"
}

# ---- the same draws as without, whatever the density brings; --threads, --block and --speculate change nothing ----
build model
build parts '-DGRADIENT=out[0] = -x[0]; out[1] = -x[1]' '-DDERIVE=x[0] + x[1]' '-DBLOB=x[0] * x[0]'
# shellcheck disable=SC2086
try 0 "$gess" sample ./model.so $options -q -o whole
for how in '--threads 1' '--threads 3 --block 1' '--threads 3 --block 7 --speculate 2' '--on-crash outside'; do
    rm -rf run
    # shellcheck disable=SC2086
    try 0 "$gess" sample ./model.so $options --isolate $how -q -o run
    same whole run "other draws with --isolate $how"
    [ ! -e run/crashes.csv ] || fail "crashes of a density without any"
done
for model in ./parts.so funnel german-credit; do
    for kernel in gess nuts; do
        case $model$kernel in funnelnuts) continue ;; esac
        rm -rf plain run
        set -- "$gess" sample $model --chains 8 --warmup 60 --draws 60 -q --kernel $kernel
        try 0 "$@" -o plain
        try 0 "$@" --isolate -o run
        same plain run "$model: other draws with --isolate"
    done
done
try 0 "$gess" sample mixture --chains 16 --seed 2 --max-evals 60000 --evidence -q -o plain-mixture
try 0 "$gess" sample mixture --chains 16 --seed 2 --max-evals 60000 --evidence -q --isolate -o run-mixture
same plain-mixture run-mixture "mixture: other draws with --isolate"
cmp plain-mixture/evidence.json run-mixture/evidence.json || fail "another evidence with --isolate"

# ---- stop: one message, the point is listed, and with the good density the run goes on to the same draws ----
build good
crash()
{
    at model "$3"
    rm -rf run
    # shellcheck disable=SC2086
    try 2 "$gess" sample ./model.so $options --isolate --threads 2 -q -o run
    [ "$(grep -c '^gess: ' err)" -eq 1 ] || fail "$1: not one message"
    says "$2 while its worker process was evaluating the point \((2\.[5-9]|[3-9])[0-9.]*,[-0-9.e]*\) of chain [1-8]; to see it alone: echo .* \| gess eval ./model.so; to continue from the last checkpoint: gess resume run"
    head -n 1 run/crashes.csv | grep -qx 'outcome,chain,cause,alpha,beta' || fail "$1: the header of crashes.csv"
    grep -qE "^stopped,[1-8],\"?$2\"?,(2\.[5-9]|[3-9])[0-9.]*,[-0-9.e]*$" run/crashes.csv || fail "$1: not in crashes.csv"
    cp good.so model.so
    # shellcheck disable=SC2086
    try 0 "$gess" resume run -q $trust
    same whole run "$1: other draws after a crash"
}
crash segfault 'crashed with signal 11 \(Segmentation fault\)' "$segfault"
crash abort 'crashed with signal 6 \(Aborted\)' 'abort()'
crash exit 'called exit\(\)' 'exit(0)'
crash _exit 'ended its process with exit status 0' '_exit(0)'
crash pthread_exit 'ended its thread \(pthread_exit\)' 'pthread_exit(NULL)'

# ---- outside: the draws of a density that is -infinity there, for any threads and after a kill ----
build model '-DVALUE=(x[0] > 2.5 ? -INFINITY : NORMAL)'
# shellcheck disable=SC2086
try 0 "$gess" sample ./model.so $options -q -o outside
outside='--isolate --on-crash outside'
for what in "$segfault" 'exit(3)' '_exit(0)'; do
    at model "$what"
    rm -rf run
    # shellcheck disable=SC2086
    try 0 "$gess" sample ./model.so $options $outside --threads 3 -o run
    same outside run "$what: other draws than with -infinity"
    rows=$(($(wc -l < run/crashes.csv) - 1))
    grep -q "^$rows evaluations lost their worker process, $rows of them count as outside the support" out || fail "no word of $rows crashes"
    "$gess" diagnose run > out 2>&1
    grep -q 'warning (crash)' out || fail "$what: the verdict says nothing of crashes"
done
# a run without isolation that crashed goes on with it
rm -rf run
# shellcheck disable=SC2086
try 2 "$gess" sample ./model.so $options --threads 1 -q -o run
# shellcheck disable=SC2086
try 0 "$gess" resume run $outside -q $trust
same outside run "other draws after going on with --isolate"
# killed
rm -rf run
at model "rest(0.001); $segfault"
for seconds in 0.1 0.3 0.5; do
    if [ -e run/config.json ]; then set -- resume "$folder/run" $trust; else set -- sample ./model.so $options $outside --threads 2 -o "$folder/run"; fi
    timeout -s KILL $seconds "$gess" "$@" -q > out 2> err
done
# shellcheck disable=SC2086
try 0 "$gess" resume run -q $trust
same outside run "other draws after kills"
nobody "$folder"

# ---- retry: a density that fails once goes on ----
build model '-DVALUE=(x[0] > 2.5 && access("failed", F_OK) != 0 ? (fclose(fopen("failed", "w")), abort(), 0.0) : NORMAL)'
rm -rf run
# shellcheck disable=SC2086
try 0 "$gess" sample ./model.so $options --isolate --on-crash retry --threads 1 -o run
same whole run "retry: other draws"
[ "$(grep -c '^retried,' run/crashes.csv)" -eq 1 ] || fail "retry: not listed"
"$gess" diagnose run > out 2>&1
grep -q 'note (crash)' out || fail "retry: the verdict says nothing"
at model 'abort()'
rm -rf run
# shellcheck disable=SC2086
try 2 "$gess" sample ./model.so $options --isolate --on-crash retry -q -o run
says 'crashed with signal 6'

# ---- a density that never returns: its time limit, --max-time and signals ----
at model 'for (;;) pause()'
rm -rf run
# shellcheck disable=SC2086
try 2 "$gess" sample ./model.so $options --isolate --eval-timeout 0.2s -q -o run
says 'the density did not return within 0\.2 s while'
build few '-DVALUE=(x[0] > 3.3 ? ({ for (;;) pause(); 0.0; }) : NORMAL)'
build few-outside '-DVALUE=(x[0] > 3.3 ? -INFINITY : NORMAL)'
# shellcheck disable=SC2086
try 0 "$gess" sample ./few-outside.so $options -q -o few-outside
rm -rf run
# shellcheck disable=SC2086
try 0 "$gess" sample ./few.so $options $outside --eval-timeout 0.1s -q -o run
same few-outside run "other draws than with -infinity where it does not return"
for threads in 1 3; do
    rm -rf run
    begin=$(now)
    # shellcheck disable=SC2086
    try 3 "$gess" sample ./model.so $options --isolate --threads $threads --max-time 1s -q -o run
    within 3.3 "$begin"
    says '--max-time is over: stopped.*gess resume run'
done
# the library alone, without the parent of the command: while it samples, and at the starts
build never '-DVALUE=({ for (;;) pause(); 0.0; })'
for model in model never; do
    rm -rf alone
    begin=$(now)
    # shellcheck disable=SC2086
    try 3 env GESS_NO_SUPERVISOR=1 "$gess" sample ./$model.so $options --isolate --threads 2 --max-time 1s -q -o alone
    within 3.3 "$begin"
    says '--max-time is over: stopped'
done
cp good.so model.so
# shellcheck disable=SC2086
try 0 "$gess" resume run -q $trust
same whole run "other draws after a density that did not return"
at model 'fclose(fopen("hanging", "w")); for (;;) pause()'
rm -rf run hanging
# shellcheck disable=SC2086
sh -c 'trap - INT; exec "$@"' sh "$gess" sample ./model.so $options --isolate --threads 2 -q -o "$folder/run" 2> err &
writer=$!
wait_until [ -e hanging ]
begin=$(now)
kill -INT $writer
wait $writer
status=$?
[ $status -eq 3 ] || fail "SIGINT: status $status"
within 2.3 "$begin"
says 'stopped'
nobody "$folder"

# ---- a leak: workers that have grown are replaced, which changes no draw ----
build model '-DBEFORE=char *leak = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) *(volatile char *)(leak + i) = 1'
rm -rf run
# shellcheck disable=SC2086
timeout 60 "$gess" sample ./model.so $options --isolate --worker-memory 20 --threads 1 -q -o "$folder/run" 2> err &
writer=$!
largest=0
while kill -0 $writer 2> /dev/null; do
    for process in $(pgrep -f "$folder"); do
        size=$(awk '/^VmRSS/ { print $2 }' "/proc/$process/status" 2> /dev/null)
        [ "${size:-0}" -le "$largest" ] || largest=$size
    done
    sleep 0.02
done
wait $writer || fail "a leaking density: $(cat err)"
same whole run "a leaking density: other draws"
[ ! -e run/crashes.csv ] || fail "a worker that was replaced is listed as a crash"
[ "$largest" -lt 600000 ] || fail "a worker had $largest KiB"

# ---- kill -9 of the command, and of its spawner: nobody is left ----
at model 'for (;;) pause()'
rm -rf run
# shellcheck disable=SC2086
"$gess" sample ./model.so $options --isolate --threads 2 -q -o "$folder/run" 2> err &
writer=$!
has_workers() { [ "$(pgrep -f -c "$folder")" -ge 4 ]; }
wait_until has_workers
kill -9 $writer
wait $writer 2> /dev/null
nobody "$folder"
rm -rf run
# shellcheck disable=SC2086
"$gess" sample ./model.so $options --isolate --threads 2 -q -o "$folder/run" 2> err &
writer=$!
has_spawner() { spawner=$(pgrep -x gess-spawner -P "$(pgrep -P $writer)"); }
wait_until has_spawner
wait_until has_workers
kill -9 "$spawner"
wait $writer
status=$?
[ $status -eq 4 ] || fail "after the end of the spawner: status $status"
says 'no worker process can be started'
nobody "$folder"

# ---- what is refused ----
try 1 "$gess" sample funnel --on-crash outside -q -o refused
says '--on-crash needs worker processes to apply to: add --isolate'
try 1 "$gess" sample funnel --isolate --on-crash perhaps -q -o refused
says 'it must be stop, outside, retry or auto'
[ ! -e refused ] || fail "a refused run has a directory"
echo "crashes, exits, leaks and endless loops cost a worker process each; draws are those without isolation"
