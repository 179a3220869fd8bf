#!/bin/sh
# --overwrite never loses a run: it is put aside until the new one samples, and comes back if that fails before.
# Standard streams that are closed, and a limit of file size, do no harm.
#   overwrite.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"

options='--chains 8 --warmup 100 --draws 200'
# shellcheck disable=SC2086
try 0 "$gess" sample funnel $options -q -o run
cp -R run before
same()
{
    for file in draws.gess config.json checkpoint summary.json; do
        cmp -s before/$file run/$file || fail "$1: $file is not as before"
    done
    [ ! -e run/previous ] || fail "$1: run/previous is left"
}

# ---- the new run fails: at its starts, in warm-up ----
build nowhere -DVALUE=-INFINITY
try 2 "$gess" sample ./nowhere.so -q --overwrite -o run
same "no start"
build infinite '-DVALUE=call > 60 ? INFINITY : NORMAL'
try 2 "$gess" sample ./infinite.so --chains 8 --threads 1 -q --overwrite -o run
says 'the run that was in run before is there again'
same "a failure in warm-up"
try 0 "$gess" summary run
try 0 "$gess" resume run -q
# ---- it crashes, or is killed: the old run is aside, and the next --overwrite that fails brings it back ----
build crash '-DBEFORE=if (call > 60) abort()'
try 2 "$gess" sample ./crash.so --chains 8 --threads 1 -q --overwrite -o run
cmp -s before/draws.gess run/previous/draws.gess || fail "a crash: the old run is not aside"
try 2 "$gess" sample ./nowhere.so -q --overwrite -o run
same "a crash, then a failure"
# ---- it goes well: the old run is gone ----
# shellcheck disable=SC2086
try 0 "$gess" sample mixture $options -q --overwrite -o run
[ ! -e run/previous ] || fail "the old run is left"
grep -q '"model": "mixture"' run/config.json || fail "the new run is not there"

# ---- a run that fails leaves no directory ----
try 2 "$gess" sample ./nowhere.so -q -o made/for/it
[ ! -e made ] || fail "a folder is left"

# ---- closed standard streams ----
# shellcheck disable=SC2086
"$gess" sample funnel $options -o closed <&- >&- 2>&- || fail "closed standard streams: status $?"
cmp before/draws.gess closed/draws.gess || fail "closed standard streams: other draws"

# ---- a limit of file size: a message and 5, not a signal ----
# shellcheck disable=SC2086
(ulimit -f 20 && timeout 60 "$gess" sample funnel --chains 64 --warmup 50 --draws 5000 -q -o limited > out 2> err)
status=$?
[ $status -eq 5 ] || fail "SIGXFSZ: status $status"
says 'cannot write .*limited/'

# ---- the directory is removed and made again by another run; it is moved away; a file of it becomes a link ----
# begin_long: a run without end, in reused, that has sampled
begin_long()
{
    "$gess" sample wishart:dim=50 --chains 16 --warmup 5 --draws 1e9 --checkpoint-every 50 -q -o reused > out 2> err &
    writer=$!
    wait_until [ -s reused/checkpoint.old ]
}
# end_long PATTERN: it has ended with 5 and this message
end_long()
{
    wait $writer
    status=$?
    [ $status -eq 5 ] || fail "the first run: status $status"
    says "$1"
}
begin_long
until rm -rf reused 2> rm.txt; do :; done # the run may make a file in between
# shellcheck disable=SC2086
"$gess" sample funnel $options -q -o reused 2> other.txt || fail "the other run: $(cat other.txt)"
# where only the checkpoint was removed when the run met it, that is all it can say
end_long 'reused.* is no longer the (file|directory) of this run|cannot (create|rename) reused/checkpoint'
cmp before/draws.gess reused/draws.gess || fail "two runs were mixed"
for file in config.json checkpoint; do
    [ -e "reused/$file" ] || fail "$file of the other run is gone"
done
try 0 "$gess" resume reused -q
rm -rf reused

begin_long
mv reused moved
mkdir reused
end_long 'reused is no longer the directory of this run: it was moved'
[ -z "$(ls reused)" ] || fail "files in a directory that is not the run's: $(ls reused)"
try 3 "$gess" resume moved --max-time 0.5s -q
rm -rf reused moved

begin_long
echo precious > precious.txt
ln -sf ../precious.txt reused/checkpoint.tmp
ln -sf ../precious.txt reused/log.txt
end_long 'cannot create reused/checkpoint.tmp: '
grep -q '^precious$' precious.txt || fail "a link was followed"
rm -rf reused

# ---- two runs that begin at once in a new directory: one of them gets it, the other says why not ----
for seed in 1 2 3 4; do
    rm -rf twice
    for first in 1 2; do
        "$gess" sample funnel --chains 8 --warmup 10 --draws 20 --seed $first -q -o twice > out$first 2> err$first &
        eval "process$first=\$!"
    done
    # shellcheck disable=SC2154
    wait "$process1"
    statuses=$?
    # shellcheck disable=SC2154
    wait "$process2"
    statuses="$statuses $?"
    cat err1 err2 > err
    case $statuses in '0 1' | '1 0') ;; *) fail "two runs at once, $seed: statuses $statuses" ;; esac
    says 'twice holds a run already|another gess \(process [0-9]*\) is writing to twice'
done
# the lock file is removed while a run waits for it
if command -v flock > out; then
    mkdir locked
    flock locked/lock sh -c 'touch taken; sleep 0.3; rm locked/lock' &
    until [ -e taken ]; do sleep 0.01; done
    # shellcheck disable=SC2086
    try 0 "$gess" sample funnel $options -q -o locked
    wait
    cmp before/draws.gess locked/draws.gess || fail "a lock that went away: other draws"
fi

# ---- a config.json that names a plug-in elsewhere ----
build good
mkdir elsewhere
# shellcheck disable=SC2086
try 0 "$gess" sample ./good.so $options -q -o plugged
cp plugged/config.json elsewhere/config.json
try 1 "$gess" sample --config elsewhere/config.json -o stolen
says 'the model is the plug-in ./good.so, which elsewhere/config.json names'
says 'not in its folder; .*--trust-model'
[ ! -e stolen ] || fail "it ran"
cp good.so go:od.so
sed 's#"./good.so"#"./go:od.so"#' plugged/config.json > elsewhere/colon.json
try 1 "$gess" sample --config elsewhere/colon.json -o stolen
says 'go:od.so, which is not in its folder; .*--trust-model'
[ ! -e stolen ] || fail "a path with a colon ran"
try 0 "$gess" sample --config elsewhere/config.json --trust-model -q -o trusted
try 0 "$gess" sample ./good.so --config elsewhere/config.json -q -o named
cp plugged/config.json config.json
try 0 "$gess" sample --config config.json -q -o beside
for run in trusted named beside; do
    cmp plugged/draws.gess $run/draws.gess || fail "$run: other draws"
done
try 0 "$gess" resume plugged --draws 250
says 'the model is the plug-in ./good.so, which plugged/config.json names'
if [ "$(id -u)" -eq 0 ]; then
    chown -R 12345 plugged
    try 1 "$gess" resume plugged --draws 260
    says '--trust-model'
    try 0 "$gess" resume plugged --draws 260 -q --trust-model
fi
echo "the old run is never lost, runs are never mixed, foreign plug-ins are not run"
