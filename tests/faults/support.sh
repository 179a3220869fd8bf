# What the tests of faults share; to be sourced by a script that got the command and the source folder as its first two
# arguments. It works in a folder of its own, which goes away with it.
# shellcheck shell=sh
case $1 in */*) gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") ;; *) gess=$1 ;; esac
source=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
limit=60
: > out
: > err

fail()
{
    echo "FAILED: $*"
    cat out err
    exit 1
}

# build NAME [FLAG...]: makes NAME.so of model.c
build()
{
    name=$1
    shift
    cc -std=gnu17 -Wall -Wextra -Werror -O1 -fPIC -shared -pthread -I "$source/include" "$@" -o "$name.so" \
        "$source/tests/faults/model.c" -lm || fail "cannot build $name.so"
}

# try STATUS COMMAND...: the command ends with STATUS, within $limit seconds; its words are in out and err
try()
{
    want=$1
    shift
    status=0
    timeout $limit "$@" > out 2> err || status=$?
    [ $status -eq "$want" ] || fail "status $status, not $want: $*"
}

# says PATTERN: it was said on standard error
says()
{
    grep -qE -e "$1" err || fail "no message '$1'"
}

silent()
{
    [ ! -s err ] || fail "it should say nothing"
}

# now: seconds, with three digits behind the point
now()
{
    date +%s.%3N
}

# within SECONDS BEGIN: no more than SECONDS have passed since BEGIN, beside what a busy machine takes for nothing at all:
# that of $busy more commands (10 by default) that begin, sample a little and end
within()
{
    within_end=$(now)
    within_most=$1
    "$gess" sample gaussian:dim=2 --chains 4 --warmup 2 --draws 2 --threads 1 -q --overwrite -o idle > idle.txt 2>&1
    awk -v a="$2" -v b="$within_end" -v c="$(now)" -v most="$within_most" \
        'BEGIN { idle = c - b - 0.05; exit !(b - a <= most + 10 * (idle > 0 ? idle : 0)) }' ||
        fail "it took longer than $within_most s"
}

# wait_until COMMAND...: until the command succeeds, for a minute at most
wait_until()
{
    wait_tries=0
    until "$@"; do
        wait_tries=$((wait_tries + 1))
        [ $wait_tries -lt 3000 ] || fail "this never came: $*"
        sleep 0.02
    done
}

# has_child PID [COUNT]: it has so many children, one by default
has_child()
{
    [ "$(pgrep -c -P "$1")" -ge "${2:-1}" ]
}
