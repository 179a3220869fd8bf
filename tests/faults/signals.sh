#!/bin/sh
# SIGINT, SIGTERM, SIGUSR1 and --max-time end a run soon, with a checkpoint, status 3 and the
# command to resume with; a second signal ends it at once; one directory has one writer at a time.
#   signals.sh GESS SOURCE_FOLDER
set -u
case $1 in */*) gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") ;; *) gess=$1 ;; esac
source=$(cd "$2" && pwd)
folder=$(mktemp -d)
writer=
trap '[ -z "$writer" ] || kill -9 $writer 2> /dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail()
{
    echo "FAILED: $*"
    cat err.txt
    exit 1
}

# wait_for TEST...: waits until TEST succeeds, at most a minute
wait_for()
{
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || fail "this never came: $*"
        sleep 0.02
    done
}

signalled=0
reached() { [ -s run/log.txt ] && [ "$(wc -l < run/log.txt)" -ge 1 ]; }
drawing() { [ "$(wc -c < run/draws.gess)" -gt 5000 ]; }

# ---- every signal once, in warm-up and in sampling ----
sampling='german-credit --chains 40 --warmup 20 --draws 800'
for phase in warming sampling; do
    options=$sampling
    [ $phase = sampling ] || options='german-credit --chains 40 --warmup 4000 --draws 50'
    # shellcheck disable=SC2086
    "$gess" sample $options -q -o whole-$phase 2> err.txt || fail "sample"
    for signal in INT TERM USR1; do
        rm -rf run
        # shellcheck disable=SC2086
        sh -c 'trap - INT; exec "$@"' sh "$gess" sample $options -q -o run 2> err.txt &
        writer=$!
        if [ $phase = warming ]; then wait_for reached; else wait_for test -e run/draws.gess && wait_for drawing; fi
        kill -$signal $writer
        wait $writer
        status=$?
        writer=
        if [ $status -eq 3 ]; then
            signalled=$((signalled + 1))
            grep -q 'gess resume run' err.txt || fail "SIG$signal: the command to go on with"
            [ -s run/checkpoint ] || fail "SIG$signal: no checkpoint"
        elif [ $status -ne 0 ]; then # the run may have ended first
            fail "SIG$signal in $phase: status $status"
        fi
        "$gess" resume run -q 2> err.txt || fail "resume after SIG$signal in $phase"
        cmp whole-$phase/draws.gess run/draws.gess || fail "SIG$signal in $phase: other draws"
    done
done
[ $signalled -ge 4 ] || fail "only $signalled of 6 signals came in time"

# ---- while the summary is made: the draws are complete, and resume makes it ----
rm -rf run
"$gess" sample funnel --warmup 50 --draws 20000 -q -o run 2> err.txt &
writer=$!
ended() { grep -q 'ended: done' run/log.txt 2> /dev/null; }
wait_for ended
kill -TERM $writer
wait $writer
status=$?
writer=
if [ $status -ne 0 ]; then
    [ $status -eq 3 ] || fail "SIGTERM while the summary is made: status $status"
    grep -q 'before the summary.*gess resume run' err.txt || fail "a stop before the summary says so"
    [ ! -e run/summary.json ] || fail "a stop before the summary, but there is one"
fi
"$gess" resume run -q 2> err.txt || fail "resume for the summary"
[ -s run/summary.json ] || fail "resume makes the summary"

# ---- signals upon signals, resume upon resume ----
rm -rf run
# shellcheck disable=SC2086
"$gess" sample $sampling -q -o run 2> err.txt &
wait_for test -e run/config.json
stops=0
while :; do
    sleep "$((stops / 10)).$((stops % 10))" # longer and longer, so that the run ends on a slow machine, too
    kill -TERM $! 2> /dev/null
    wait $!
    status=$?
    [ $status -eq 0 ] && break
    # 143: before the run was under way
    [ $status -eq 3 ] || [ $status -eq 143 ] || fail "a chain of signals: status $status"
    stops=$((stops + 1))
    [ $stops -lt 200 ] || fail "it never ends"
    "$gess" resume run -q --threads $((stops % 3 + 1)) 2> err.txt &
done
cmp whole-sampling/draws.gess run/draws.gess || fail "a chain of signals: other draws"

# ---- --max-time of a new run and of a resumed one ----
for seconds in 1 4 16; do # on a busy machine a second may be too short for a draw
    rm -rf run
    "$gess" sample wishart:dim=30 --chains 100 --warmup 50 --draws 1e9 --max-time ${seconds}s -q -o run 2> err.txt
    status=$?
    [ $status -eq 3 ] || fail "--max-time: status $status"
    grep -q -- '--max-time.*gess resume run' err.txt || fail "--max-time: message"
    before=$(wc -c < run/draws.gess)
    "$gess" resume run --max-time ${seconds}s -q 2> err.txt
    status=$?
    [ $status -eq 3 ] || fail "resume --max-time: status $status"
    [ "$(wc -c < run/draws.gess)" -eq "$before" ] || break
done
[ "$(wc -c < run/draws.gess)" -gt "$before" ] || fail "resume --max-time made no draws"
"$gess" summary run > out.txt 2> err.txt || fail "summary of a stopped run"

# ---- a second signal ends the run at once, although an evaluation takes hours ----
cat > slow.c <<'END'
#include <gess/gess.h>
#include <fcntl.h>
#include <unistd.h>
static int calls;
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    if (__sync_add_and_fetch(&calls, 1) > 20) close(creat("hanging", 0666)), sleep(3600);
    for (size_t i = 0; i < n; i++) values[i] = -0.5 * x[i * dim] * x[i * dim];
    return 0;
}
GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size);
const unsigned gess_plugin_abi = GESS_ABI;
int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size)
{
    (void)path, (void)message, (void)size;
    density->dim = 1;
    density->logp = logp;
    return 0;
}
END
cc -std=c17 -shared -fPIC -I "$source/include" -o slow.so slow.c 2> err.txt || fail "the slow model"
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
for signal in INT TERM USR1; do
    rm -rf run hanging
    sh -c 'trap - INT; exec "$@"' sh "$gess" sample ./slow.so --chains 4 --warmup 5 --draws 1000 --threads 1 -q -o run 2> err.txt &
    writer=$!
    wait_for test -e hanging
    first=$(milliseconds)
    kill -$signal $writer
    sleep 0.3
    kill -$signal $writer 2> /dev/null
    second=$(milliseconds)
    wait $writer
    status=$?
    took=$(($(milliseconds) - second))
    writer=
    # one signal alone ends it after 1.5 seconds, with status 3: a busy machine may have taken that long
    [ $((second - first)) -lt 1300 ] || [ $status -ne 3 ] || continue
    [ $status -gt 128 ] || fail "SIG$signal twice: status $status"
    [ $took -le 2000 ] || fail "SIG$signal twice: not at once"
    [ -s run/checkpoint ] || fail "SIG$signal twice: the checkpoint is gone"
done

# ---- one writer at a time ----
rm -rf run
"$gess" sample wishart:dim=50 --draws 1e9 --warmup 5 -q -o run 2> out.txt &
writer=$!
wait_for test -e run/checkpoint
for command in 'resume run' 'sample mixture --overwrite -o run' 'sample mixture -o run'; do
    # shellcheck disable=SC2086
    "$gess" $command -q 2> err.txt
    status=$?
    [ $status -eq 1 ] || fail "a second writer, $command: status $status"
done
"$gess" resume run 2> err.txt
grep -q "process $writer" err.txt || fail "the writer is not named"
kill -0 $writer || fail "the first writer was disturbed"
kill -9 $writer
wait $writer 2> /dev/null
writer=

# ---- a lock left by a dead process is ignored, even if another process has its number now ----
[ -e run/lock ] || fail "no lock file"
echo $$ > run/lock
"$gess" resume run --max-time 0.2s -q 2> err.txt
status=$?
[ $status -eq 3 ] || fail "a stale lock: status $status"
echo "$signalled signals in time, $stops stops in one run, twice at once, one writer at a time"
