#!/bin/sh
# Runs on a GPU have the bytes of runs on the processor, for every built-in model that has code for it, with learned maps,
# bounds, mixtures and every kind of move, stopped and resumed on the other; and a GPU run repeats itself. Skipped where
# there is no GPU.
#   gpu.sh GESS
set -u
. "$(dirname "$0")/../command.sh"

"$gess" sample gaussian --device cuda --chains 64 --draws 4 --out probe --quiet 2>probe.txt || {
    cat probe.txt
    grep -q 'no NVIDIA' probe.txt && exit 77
    exit 1
}

# both NAME MODEL OPTION...: the same run on both
both()
{
    name=$1
    shift
    "$gess" sample "$@" --device cpu --out "$name.cpu" --quiet >"$name.txt" 2>&1 || fail "$name on the processor: $(cat "$name.txt")"
    "$gess" sample "$@" --device cuda --out "$name.gpu" --quiet >"$name.txt" 2>&1 || fail "$name on the GPU: $(cat "$name.txt")"
    cmp "$name.cpu/draws.gess" "$name.gpu/draws.gess" || fail "$name: other draws on the GPU"
    grep -q 'device: cuda:0' "$name.gpu/log.txt" || fail "$name did not run on the GPU"
}

short='--chains 256 --draws 20'
both gaussian gaussian $short
both student student-t:dim=3,nu=3 $short
both two_group gaussian:dim=7 $short --schedule two-group --warmup 50
both german german-credit $short
both breast breast-cancer $short --max-warmup-evals 100000
both funnel funnel:dim=5 $short
both banana banana:dim=3 $short
both mixture mixture:spread=8 $short
both volatility stochastic-volatility $short --max-warmup-evals 100000
both snp snp $short --max-warmup-evals 100000
both wishart wishart:dim=20 $short
both schools eight-schools $short --seed 2
both schools0 eight-schools:centred=0 $short
both rats rats $short --max-warmup-evals 100000
both seeds seeds $short --max-warmup-evals 100000
both hard stochastic-volatility $short --transform none --max-warmup-evals 50000

# from one to the other
"$gess" sample german-credit --chains 256 --draws 40 --out whole --quiet
for first in cpu cuda; do
    second=$([ $first = cpu ] && echo cuda || echo cpu)
    "$gess" sample german-credit --chains 256 --draws 20 --device $first --out "part.$first" --quiet
    "$gess" resume "part.$first" --draws 40 --device $second --quiet
    cmp whole/draws.gess "part.$first/draws.gess" || fail "resumed on $second: other draws"
done

expect 1 'there is no such GPU' "$gess" sample gaussian --device cuda:99 --out none
exit $failed
