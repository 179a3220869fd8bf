#!/bin/sh
# A failure at every single system call of the write path in turn, and a kill in front of every one.
#   syscalls.sh GESS [STEP]       every STEP-th of them, by default every one
#
# After each, the command must have ended with 5 and named a file, or with 0 if the call did not matter;
# `gess resume` then ends with the draws of a run without failures. If config.json did not exist yet,
# resume ends with 1 and the same `gess sample` works.
# strace injects the failures, since a preloaded library cannot catch what stdio writes. Exit status 77: no strace.
set -u
export GESS_NO_SUPERVISOR=1 # a parent would make calls of its own
case $1 in */*) gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") ;; *) gess=$1 ;; esac
step=${2:-1}
calls='mkdir mkdirat openat write pwrite64 ftruncate fsync close rename renameat linkat unlink unlinkat'
list=$(echo "$calls" | tr ' ' ',')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

if ! strace -f -o trace.txt -e trace=none true 2> /dev/null; then
    echo "skipped: there is no strace, or it is not permitted"
    exit 77
fi

bad=0
report()
{
    bad=$((bad + 1))
    echo "FAILED: $scene, $what: $*"
    cat out.txt
}

sample()
{
    # shellcheck disable=SC2086
    "$@" "$gess" sample $options --threads 1 -q -o run > out.txt 2>&1
}

resume()
{
    "$@" "$gess" resume run --threads 1 -q > out.txt 2>&1
}

# The state that a scene begins with.
set_stage()
{
    rm -rf run
    [ ! -d stage ] || cp -R stage run
}

# resumes the run or starts it again, to the end
finish()
{
    resume env
    status=$?
    if [ ! -e run/config.json ]; then
        [ -e stage/config.json ] && report "config.json is gone" && return
        [ $status -eq 1 ] || report "resume of nothing ends with $status"
        sample env
        status=$?
    fi
    [ $status -eq 0 ] || report "going on ends with $status"
    # the run that was to be replaced may still be there, complete
    if [ -d before ] && cmp -s before/draws.gess run/draws.gess; then return; fi
    cmp whole/draws.gess run/draws.gess || report "other draws"
    [ ! -e whole/warmup.gess ] || cmp whole/warmup.gess run/warmup.gess || report "other warm-up"
}

# every NAME COMMAND: tries all faults of one scene
every()
{
    scene=$1
    action=$2
    what='no fault'
    set_stage
    $action strace -f -o trace.txt -e "trace=$list" || report "status $?"
    cmp whole/draws.gess run/draws.gess || report "other draws"
    for call in $calls; do
        # the calls of this name: all, and those before the run touches its folder
        counts=$(awk -v call="$call" 'NR == 1 { pid = $1 } $1 != pid { next } /"run/ { ours = 1 }
            { name = $2; sub(/\(.*/, "", name) } name == call { all++; if (!ours) before++ }
            END { print before + 0, all + 0 }' trace.txt)
        at=$((${counts% *} + 1))
        while [ $at -le "${counts#* }" ]; do
            case $call in openat | mkdir) errors='ENOSPC EMFILE' ;; *) errors='ENOSPC EIO' ;; esac
            for fault in $errors KILL; do
                what="$fault at $call number $at"
                injected=$((injected + 1))
                [ $((injected % step)) -eq 0 ] || continue
                tried=$((tried + 1))
                set_stage
                if [ $fault = KILL ]; then
                    $action strace -f -o now.txt -e "trace=$call" -e "inject=$call:signal=KILL:when=$at"
                    status=$?
                    [ $status -eq 137 ] || report "the kill: status $status"
                else
                    $action strace -f -o now.txt -e "trace=$call" -e "inject=$call:error=$fault:when=$at"
                    status=$?
                    case $status in
                    0) harmless=$((harmless + 1)) ;;
                    5) grep -q 'run' out.txt || report "no file is named" ;;
                    2) grep -q "cannot open .*csv" out.txt || report "status $status" ;; # the model's data
                    *) report "status $status" ;;
                    esac
                    if [ $status -eq 0 ] && ! cmp -s whole/draws.gess run/draws.gess; then report "status 0, but other draws"; fi
                fi
                finish
            done
            at=$((at + 1))
        done
    done
}

injected=0
tried=0
harmless=0

# ---- a new run ----
options='mixture --chains 4 --warmup 10 --draws 10 --checkpoint-every 5'
sample env || exit 1
mv run whole
every 'a new run' sample

# ---- a run with warm-up draws that replaces another: in the end there is one of the two ----
mv whole before
cp -R before stage
options="$options --seed 2 --save-warmup --overwrite"
rm -rf run
sample env || exit 1
mv run whole
every 'a run that replaces another' sample
rm -rf stage before

# ---- a resumed run, killed after its second checkpoint ----
rm -rf run
sample strace -f -o now.txt -e trace=renameat -e inject=renameat:signal=KILL:when=6
[ -e run/checkpoint.old ] || exit 1
mv run stage
every 'a run that goes on' resume

# ---- a run with only its config.json ----
rm -rf stage
rm -rf run
sample strace -f -o now.txt -e trace=renameat -e inject=renameat:signal=KILL:when=2
if [ ! -e run/config.json ] || [ -e run/checkpoint ]; then exit 1; fi
mv run stage
every 'a run that was killed before its first checkpoint' resume

# ---- a run whose newest checkpoint is damaged ----
rm -rf stage
rm -rf run
sample strace -f -o now.txt -e trace=renameat -e inject=renameat:signal=KILL:when=6
rm -f run/checkpoint.tmp
cp run/checkpoint.old run/good
cp run/checkpoint.old run/checkpoint
mv run/good run/checkpoint.old
printf 'x' | dd of=run/checkpoint bs=1 seek=100 conv=notrunc 2> /dev/null
mv run stage
every 'a run whose newest checkpoint is damaged' resume

# ---- a complete run: it stays unchanged ----
rm -rf stage
cp -R whole stage
every 'a run that is complete' resume

echo "$tried faults, $harmless of them without harm to the run, $bad failures"
[ $bad -eq 0 ]
