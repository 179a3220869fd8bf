#!/bin/sh
# `gess reproduce all --quick`: in under 15 minutes on two cores, every page with its plots, data and verdicts.
#   quick.sh GESS SOURCE_FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../command.sh"
begun=$(date +%s)
"$gess" reproduce all --quick -o all || fail "status $?"
took=$(($(date +%s) - begun))
echo "it took $took s"
[ $took -lt 900 ] || fail "it took $took s, more than 15 minutes"
for name in figure-ellipse figure-t figure-trace figure-reuse figure-mixing table-scaling; do
    for kind in csv json html svg png; do [ -s all/$name.$kind ] || fail "no $name.$kind"; done
    grep -q '"verdict": "\(holds\|holds in part\|does not hold\)"' all/$name.json || fail "$name: nothing is judged"
    grep -q "$name.html" all/index.html || fail "the index lacks $name"
done
for name in figure-ellipse figure-t figure-trace; do
    ! grep -q '"verdict": "does not hold"' all/$name.json || fail "$name: $(grep -B2 'does not' all/$name.json)"
done
for name in figure-trace figure-reuse figure-mixing table-scaling; do
    grep -q 'Smaller than the protocol' all/$name.html || fail "$name does not say what was scaled down"
done
! grep -q '"verdict": "not judged"' all/figure-mixing.json || fail 'a claim of the mixing figure is not judged'
exit $failed
