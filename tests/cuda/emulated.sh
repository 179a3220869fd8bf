#!/bin/sh
# `--device cuda` on a GPU that is the processor (emulator/README.md): built-in models and models in CUDA source files have
# the draws of the processor, runs go on on either, and what can go wrong is said.
#   emulated.sh GESS EMULATOR_FOLDER
set -u
emulator=$2
. "$(dirname "$0")/../command.sh"
LD_LIBRARY_PATH=$emulator
export LD_LIBRARY_PATH

# both NAME MODEL OPTION...: the same run on both
both()
{
    name=$1
    shift
    "$gess" sample "$@" --device cpu --out "$name.cpu" --quiet >"$name.txt" 2>&1 || fail "$name on the processor: $(cat "$name.txt")"
    "$gess" sample "$@" --device cuda --out "$name.gpu" --quiet >"$name.txt" 2>&1 || fail "$name on the GPU: $(cat "$name.txt")"
    cmp "$name.cpu/draws.gess" "$name.gpu/draws.gess" || fail "$name: other draws on the GPU"
    grep -q 'device: cuda:0 (emulated)' "$name.gpu/log.txt" || fail "$name did not run on the GPU"
}

short='--chains 200 --draws 10'
both gaussian gaussian:dim=5 $short
both schools eight-schools $short --max-warmup-evals 30000

# a file of the user's, with data, bounds and a derived quantity; resumed on either
"$gess" new line --lang cuda >/dev/null
both line line/line.cu --data line/data.csv $short
for first in cpu cuda; do
    second=$([ $first = cpu ] && echo cuda || echo cpu)
    "$gess" sample line/line.cu --data line/data.csv $short --device $first --out "part.$first" --quiet
    expect 0 '' "$gess" resume "part.$first" --draws 20 --device $second --quiet
done
cmp part.cpu/draws.gess part.cuda/draws.gess || fail 'resumed on the other device: other draws'

# NaN is counted, with the points; +infinity ends the run with the point; a wrong density is shown with its line
head='// gess: parameter a
// gess: parameter b
#include <gess/gess_cuda.h>
__device__ double logp(size_t dim, const double *x, const gess_data *data)
{
    double value = -0.5 * (x[0] * x[0] + x[1] * x[1]);'
printf '%s\n    return x[0] > 1.5 ? NAN : value;\n}\n' "$head" >nan.cu
run='--chains 64 --warmup 20 --schedule pooled --draws 20 --quiet'
both nan nan.cu $run
cut -d, -f1-5 nan.cpu/nans.csv | head -1 >a
[ -s nan.gpu/nans.csv ] || fail 'no points of NaN'
printf '%s\n    return x[0] > 4 ? INFINITY : 0.1 * value;\n}\n' "$head" >infinite.cu
expect 2 'the log density is +infinity at a = ' "$gess" sample infinite.cu $run --draws 200 --device cuda --out infinite
printf '%s\n#ifdef __CUDACC__\n    return valeu;\n#else\n    return value;\n#endif\n}\n' "$head" >wrong.cu
expect 2 'wrong.cu:8:' "$gess" sample wrong.cu $run --device cuda --out wrong
expect 2 'the density nan.cu failed on the GPU' env EMULATED_FAULT=1 "$gess" sample nan.cu $run --device cuda --out fault

# what the machine lacks
expect 2 'there is no NVIDIA GPU on this machine' env EMULATED_DEVICES=0 "$gess" sample gaussian $run --device cuda --out none
expect 2 'the NVIDIA driver is too old' env EMULATED_DRIVER=9000 "$gess" sample gaussian $run --device cuda --out none
expect 4 'use fewer chains' env EMULATED_MEMORY=1 "$gess" sample gaussian:dim=50 --chains 2000 --draws 10 --device cuda \
    --quiet --out none
expect 1 'there is no such GPU' "$gess" sample gaussian $run --device cuda:1 --out none
expect 2 'there is no NVIDIA driver on this machine' env LD_LIBRARY_PATH= "$gess" sample nan.cu $run --device cuda --out none
exit $failed
