#!/bin/sh
# Full disks: a small tmpfs (as root), a limit on the size of files, /dev/full. The command ends with 5 and
# names the file; once there is room again, `gess resume` ends with the draws of an undisturbed run.
#   disk.sh GESS
set -u
case $1 in */*) gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") ;; *) gess=$1 ;; esac
folder=$(mktemp -d)
trap 'umount "$folder/small" 2> /dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail()
{
    echo "FAILED: $*"
    cat err.txt
    exit 1
}

options='mixture --chains 30 --warmup 60 --draws 300 --save-warmup --checkpoint-every 20'
# shellcheck disable=SC2086
"$gess" sample $options -q -o whole 2> err.txt || fail "sample"

# full STATUS RUN WHAT: checks a run that met a full disk. Status 0: there was room.
full()
{
    [ "$1" -eq 0 ] && cmp whole/draws.gess "$2/draws.gess" && return
    [ "$1" -eq 5 ] || fail "$3: status $1"
    grep -q "$2" err.txt || fail "$3: no file is named"
    hits=$((hits + 1))
}

# go_on RUN WHAT: resumes the run now that there is room again
go_on()
{
    if [ -e "$1/config.json" ]; then
        "$gess" resume "$1" -q 2> err.txt || fail "$2: resume"
    else
        "$gess" resume "$1" -q 2> err.txt
        status=$?
        [ $status -eq 1 ] || fail "$2: resume of nothing ends with $status"
        # shellcheck disable=SC2086
        "$gess" sample $options -q -o "$1" 2> err.txt || fail "$2: a new run"
    fi
    cmp whole/draws.gess "$1/draws.gess" || fail "$2: other draws"
    cmp whole/warmup.gess "$1/warmup.gess" || fail "$2: other warm-up"
}

# ---- a limit on the size of files, in blocks of 512 bytes ----
hits=0
for blocks in 0 1 2 3 8 20 50 100 200 400 800 1500; do
    rm -rf run
    # shellcheck disable=SC2086
    (
        trap '' XFSZ
        ulimit -f $blocks
        exec "$gess" sample $options -q -o run
    ) 2> all.txt
    status=$?
    cat all.txt > err.txt
    [ $blocks -gt 0 ] || [ $status -ne 0 ] || fail "no room at all"
    if [ $blocks -le 2 ] && [ ! -s err.txt ]; then # the limit holds for the message as well
        [ $status -eq 5 ] || fail "limit of $blocks blocks: status $status"
        hits=$((hits + 1))
    else
        full $status run "limit of $blocks blocks"
    fi
    # once more with the same limit: nothing is lost by trying
    if [ -e run/config.json ] && [ $status -ne 0 ]; then
        (
            trap '' XFSZ
            ulimit -f $blocks
            exec "$gess" resume run -q
        ) 2> err.txt
        [ $? -eq 5 ] || fail "limit of $blocks blocks: resume without more room"
    fi
    go_on run "limit of $blocks blocks"
done
limits=$hits

# ---- a small tmpfs ----
hits=0
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16k tmpfs small 2> /dev/null; then
    for size in 4 8 12 16 24 40 64 100 128 200 300 400 600 800 1200; do
        mount -o remount,size=${size}k small || fail "remount"
        # shellcheck disable=SC2086
        "$gess" sample $options -q -o small/run 2> err.txt
        full $? small/run "tmpfs of $size KiB"
        mount -o remount,size=64m small || fail "remount"
        go_on small/run "tmpfs of $size KiB"
        rm -rf small/run
    done
    umount small
    tmpfs="$hits times on a small tmpfs"
    [ $hits -gt 5 ] || fail "the small disk was never full"
else
    tmpfs='the small tmpfs skipped (it needs the right to mount)'
fi

# ---- output that cannot be written ----
for command in 'summary whole' 'summary --json whole' 'sample mixture --chains 20 --warmup 5 --draws 20 -o other' 'resume whole'; do
    # shellcheck disable=SC2086
    "$gess" $command > /dev/full 2> err.txt
    status=$?
    [ $status -eq 5 ] || fail "$command > /dev/full: status $status"
    grep -q 'cannot write' err.txt || fail "$command > /dev/full: no message"
done
if "$gess" export --help > /dev/null 2>&1; then
    "$gess" export whole --to csv -o /dev/full > /dev/null 2> err.txt
    status=$?
    [ $status -eq 5 ] || [ $status -eq 1 ] || fail "export to /dev/full: status $status"
    [ -s err.txt ] || fail "export to /dev/full: no message"
fi
echo "a full disk $limits times by a limit, $tmpfs; /dev/full"
