#!/bin/sh
# Densities that end their process or their thread, or do not return: one message with chain, point and command, the
# documented status, in time, and a run that can be resumed.
#   crash.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"
trust=--trust-model
"$gess" resume --help | grep -q -- --trust-model || trust=
options='--chains 8 --warmup 100 --draws 3000 --checkpoint-every 20'

build model
# shellcheck disable=SC2086
try 0 "$gess" sample ./model.so $options -q -o whole

# crash NAME PATTERN FLAG: at a point that some chain gets to. The same run with the good density goes on to the end.
crash()
{
    rm -rf run
    build good
    build model '-DBEFORE=if (points[0] > 2.5) { '"$3"'; }'
    for threads in 1 3; do
        rm -rf run
        # shellcheck disable=SC2086
        try 2 "$gess" sample ./model.so $options --threads $threads --block 1 --speculate off -q -o run
        [ "$(grep -c '^gess: ' err)" -eq 1 ] || fail "$1: not one message"
        says "$2"
        says 'the point \((2\.[5-9]|[3-9])[0-9.]*,[-0-9.e]*\) of chain [1-8]; to see it alone: echo .* \| gess eval ./model.so;? .*gess resume run'
    done
    # the command that it names does show it
    sed -n "s/.*alone: echo '\([^']*\)' .*/\1/p" err > point.csv
    timeout 20 "$gess" eval ./model.so --points point.csv > out 2>&1
    [ $? -ne 124 ] || fail "$1: eval of the point hangs"
    grep -q lp__ out && fail "$1: eval of the point succeeds"
    cp good.so model.so
    # shellcheck disable=SC2086
    try 0 "$gess" resume run -q $trust
    cmp whole/draws.gess run/draws.gess || fail "$1: other draws after a crash"
}
crash segfault 'crashed with signal 11' '*(volatile int *)8 = 1'
crash abort 'crashed with signal 6' 'abort()'
crash exit 'ended the process with exit status 0' 'exit(0)'
crash _exit 'ended the process with exit status 0' '_exit(0)'
crash exit7 'ended the process with exit status 7' 'exit(7)'
crash pthread_exit 'ended its thread' 'pthread_exit(NULL)'

# a C++ exception
cat > throws.cpp <<'END'
extern "C" void throw_it();
void throw_it() { throw 1; }
END
if c++ -O1 -fPIC -shared -o libthrows.so throws.cpp 2> err; then
    build model -L. -Wl,-rpath,. '-DBEFORE=void throw_it(void); if (points[0] > 2.5) throw_it()' -Wl,--no-as-needed -lthrows
    rm -rf run
    # shellcheck disable=SC2086
    try 2 "$gess" sample ./model.so $options -q -o run
    says 'crashed with signal 6'
fi

# while it is opened, and at the starts
build model -DOPEN='_exit(0)'
try 2 "$gess" sample ./model.so -q -o fresh
says 'ended the process with exit status 0 while ./model.so was being opened; nothing was written'
[ ! -e fresh ] || fail "a run directory without a run"
build model '-DBEFORE=_exit(0)'
try 2 "$gess" sample ./model.so -q -o fresh
says 'exit status 0 while it was evaluating the point .* of chain 1;'
rm -rf fresh

# ---- paths in the commands that it names can be pasted ----
mkdir "a folder"
build long '-DBEFORE=if (points[0] > 2.5) abort()'
mv long.so "a folder/it's long.so"
echo 0 > "the data"
# shellcheck disable=SC2086
try 2 "$gess" sample "./a folder/it's long.so" --data "the data" $options -q -o "a run"
sed -n "s/.* to see it alone: \(.*\); to continue.*/\1/p" err > paste.sh
PATH=$(dirname "$gess"):$PATH
export PATH
try 2 sh paste.sh
says "crashed with signal 6 .* gess eval './a folder/it'.''s long.so' --data 'the data'"
# shellcheck disable=SC2086
try 2 "$gess" sample "./a folder/it's long.so" $options --isolate -q -o "isolated run"
sed -n "s/.* to see it alone: \(.*\); to continue.*/\1/p" err > paste.sh
try 2 sh paste.sh
says "crashed with signal 6"

# ---- eval, evidence and compare: a message, and never status 0 ----
build model
# shellcheck disable=SC2086
try 0 "$gess" sample ./model.so $options -q -o done
cp -R done done2
build good
for what in '*(volatile int *)8 = 1' 'abort()' 'exit(0)' '_exit(0)' 'pthread_exit(NULL)'; do
    build model '-DVALUE=(x[0] > 2.5 || call > 100 ? ({ '"$what"'; 0.0; }) : NORMAL)'
    printf '0,0\n1,1\n3,3\n' > points.csv
    try 2 "$gess" eval ./model.so --points points.csv
    [ ! -s out ] || fail "$what: eval prints values"
    says 'while it was evaluating the point \(3,3\); to see it alone: echo .3,3. . gess eval ./model.so$'
    for command in 'evidence done' 'compare done done2'; do
        # shellcheck disable=SC2086
        try 2 "$gess" $command --threads 1
        [ ! -s out ] || fail "$what: $command prints something"
        says 'while it was evaluating the point \([-0-9.e]*,[-0-9.e]*\).*; to see it alone: echo .* \| gess eval ./model.so$'
    done
done
try 2 env GESS_NO_SUPERVISOR=1 "$gess" eval ./model.so --points points.csv # pthread_exit, without a parent
says 'the density ended its thread'
cp good.so model.so
try 0 "$gess" evidence done
awk 'BEGIN { for (i = 0; i < 1000; i++) print i / 100 "," i }' > points.csv
try 0 "$gess" eval ./model.so --points points.csv
tail -n +2 out | awk -F, '{ x = (NR - 1) / 100; y = NR - 1; d = $1 + 0.5 * (x * x + y * y); if (d * d > 1e-16 * y ^ 4 + 1e-18) exit 1 }' ||
    fail "eval of 1,000 points"
[ "$(wc -l < out)" -eq 1001 ] || fail "eval of 1,000 points: $(wc -l < out) lines"

# ---- killed by the system where memory runs out, say: a message and the way on ----
build model '-DBEFORE=if (points[0] > 2.5) kill(getpid(), SIGKILL)'
rm -rf run
# shellcheck disable=SC2086
try 137 "$gess" sample ./model.so $options -q -o run
says 'the process that calls the density was killed \(signal 9\).*to continue from the last checkpoint: gess resume run'
cp good.so model.so
# shellcheck disable=SC2086
try 0 "$gess" resume run -q $trust
cmp whole/draws.gess run/draws.gess || fail "other draws after SIGKILL"

# ---- stopped (Control-Z) until long after the time limit: it still ends in an orderly way ----
rm -rf run
"$gess" sample wishart:dim=30 --chains 16 --warmup 50 --draws 1e9 --max-time 2s --threads 1 -q -o run > out 2> err &
writer=$!
wait_until has_child $writer
sleep 0.5
children=$(pgrep -P $writer) # on a busy machine it may have ended by now
# shellcheck disable=SC2086
kill -STOP $writer $children
sleep 3.6
kill -CONT $writer
sleep 0.1 # what the child does about the limit must not decide
# shellcheck disable=SC2086
[ -z "$children" ] || kill -CONT $children
wait $writer
status=$?
[ $status -eq 3 ] || fail "stopped beyond the limit: status $status"
says 'the time limit --max-time is over: stopped (after [0-9]* draws per chain|before the summary was made)'

# ---- a density that never returns: --max-time and signals end it within two seconds ----
build model '-DBEFORE=if (points[0] > 2.5) for (;;) pause()'
build good
for threads in 1 3; do
    rm -rf run
    begin=$(now)
    # shellcheck disable=SC2086
    try 3 "$gess" sample ./model.so $options --threads $threads --max-time 2s -q -o run
    within 4.3 "$begin"
    says '--max-time is over: stopped without waiting.*gess resume run'
done
cp good.so model.so
# shellcheck disable=SC2086
try 0 "$gess" resume run -q $trust
cmp whole/draws.gess run/draws.gess || fail "other draws after a density that did not return"
build model '-DBEFORE=if (points[0] > 2.5) { fclose(fopen("hanging", "w")); for (;;) pause(); }'
for signal in INT TERM; do
    rm -rf run hanging
    # shellcheck disable=SC2086
    sh -c 'trap - INT; exec "$@"' sh "$gess" sample ./model.so $options --threads 2 -q -o run 2> err &
    writer=$!
    wait_until [ -e hanging ]
    begin=$(now)
    kill -$signal $writer
    wait $writer
    status=$?
    [ $status -eq 3 ] || fail "SIG$signal: status $status"
    within 2.3 "$begin"
    says 'stopping; waiting for [12] calls? of the density \(chain [1-8]'
done

# ---- a slow density makes progress in slots that are too short for a sweep, or for the starts ----
build model '-DBEFORE=rest(0.02 * (double)n)'
build good
# shellcheck disable=SC2086
slow='--chains 8 --warmup 4 --draws 4 --threads 1 --schedule two-group'
# shellcheck disable=SC2086
try 0 "$gess" sample ./good.so $slow -q -o slow-whole
rm -rf run
# shellcheck disable=SC2086
"$gess" sample ./model.so $slow --max-time 0.1s -q -o run 2> err
if [ -e run/config.json ] && [ ! -e run/draws.gess ]; then # stopped among its starts
    try 5 "$gess" summary run
    says 'the run in run has no draws yet; continue it with `gess resume run`'
fi
slots=1
while [ $slots -lt 40 ]; do
    # shellcheck disable=SC2086
    "$gess" resume run --max-time 0.1s -q $trust 2> err && break
    slots=$((slots + 1))
done
[ $slots -lt 40 ] || fail "a slow density makes no progress"
[ $slots -gt 2 ] || fail "the slots were not short: $slots"
cmp slow-whole/draws.gess run/draws.gess || fail "other draws in $slots slots"

# ---- the parent is killed: nobody is left ----
build model '-DBEFORE=if (points[0] > 2.5) for (;;) pause()'
rm -rf run
# shellcheck disable=SC2086
"$gess" sample ./model.so $options -q -o run 2> err &
writer=$!
wait_until has_child $writer
children=$(pgrep -P $writer)
kill -9 $writer
wait $writer 2> /dev/null
is_gone() { case $(ps -o stat= -p "$1") in '' | Z*) ;; *) return 1 ;; esac; } # Z: its new parent has not asked about it yet
for child in $children; do wait_until is_gone "$child"; done
echo "crashes are explained, endless densities ended, slow ones make progress"
