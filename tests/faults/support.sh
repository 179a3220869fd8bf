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

# within SECONDS BEGIN: no more than SECONDS have passed since BEGIN
within()
{
    awk -v a="$2" -v b="$(now)" -v most="$1" 'BEGIN { exit !(b - a <= most) }' || fail "it took longer than $1 s"
}
