#!/bin/sh
# A program as the density (exec:) on several ranks: every rank starts its own, the draws are those of one process, a fault
# on whatever rank ends the run with one message, and no process is left behind.
#   exec.sh GESS SOURCE_FOLDER
# shellcheck disable=SC2086
set -eu
. "$(dirname "$0")/launch.sh"
cc -O2 -o peer "$source/tests/exec/peer.c" || fail "the program does not build"
options='--draws 60 --chains 16 --warmup 60 --seed 5 --quiet'

processes()
{
    for p in /proc/[0-9]*; do
        [ "$(readlink "$p/cwd" 2> /dev/null)" = "$folder" ] && tr '\0' ' ' < "$p/cmdline" 2> /dev/null && echo
    done | grep -E '^\./peer|^sh -c trap' || true
}

none_left()
{
    for i in $(seq 300); do
        [ -n "$(processes)" ] || return 0
        sleep 0.2
    done
    fail "$1: processes are left behind: $(processes)"
}

"$gess" sample 'exec:./peer 4' $options --threads 1 -o one
for how in '2 1 text' '3 1 binary' '2 2 binary'; do
    set -- $how
    ranks $1 "$gess" sample "exec:./peer 4 $3 sleep 300 report $3.$1.$2" $options --threads $2 -o many || fail "$how: status $?"
    cmp one/draws.gess many/draws.gess || fail "$how: other draws"
    [ "$(wc -l < $3.$1.$2)" -ge $1 ] || fail "$how: fewer programs than ranks"
    none_left "$how"
    rm -r many
done
ranks 2 "$gess" sample "exec:./peer 4 sleep 300 fault exit 90 once flag" $options --threads 1 -o many || fail "a lost program: status $?"
cmp one/draws.gess many/draws.gess || fail "a lost program: other draws"
rm -r many
status=0
ranks 2 "$gess" sample "exec:./peer 4 sleep 300 fault garbage 90" $options --threads 1 -o many || status=$?
[ $status -eq 2 ] || fail "a wrong answer: status $status"
[ "$(grep -c 'wrote `Traceback` as line .* at the point (' err.txt)" -eq 1 ] || fail "a wrong answer: no message, or several"
none_left "a wrong answer"
