#!/bin/sh
# `--device cuda` on a GPU that is the processor (emulator/README.md): built-in models and models in CUDA source files have
# the draws of the processor, runs go on on either, and what can go wrong is said.
#   emulated.sh GESS EMULATOR_FOLDER SOURCE_FOLDER
set -u
emulator=$2
source=$3
. "$(dirname "$0")/../command.sh"
LD_LIBRARY_PATH=$emulator
export LD_LIBRARY_PATH

device='cuda:0 (emulated)'
. "$(dirname "$0")/both.sh"

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

# several GPUs: the same draws, resumed on other numbers of them
EMULATED_DEVICES=4 "$gess" sample line/line.cu --data line/data.csv $short --device cuda:0,3,1 --out three --quiet || fail 'three GPUs'
cmp line.cpu/draws.gess three/draws.gess || fail 'other draws on three GPUs'
grep -q 'device: cuda:0 (emulated), cuda:3 (emulated), cuda:1 (emulated)' three/log.txt || fail "three GPUs: $(head -1 three/log.txt)"
"$gess" resume three --draws 20 --device cuda --quiet || fail 'from three GPUs to one'
cmp part.cpu/draws.gess three/draws.gess || fail 'from three GPUs to one: other draws'
expect 1 'there is no such GPU' "$gess" sample gaussian --chains 64 --device cuda:0,1 --quiet --out none

# the evidence of a run on a GPU, and the run itself, where there is none
no_gpu='env EMULATED_DEVICES=0'
"$gess" evidence line.gpu --json >with.json # so few draws are not enough for its verdict
$no_gpu "$gess" evidence line.gpu --json >without.json
grep -q log_evidence with.json || fail "no evidence: $(cat with.json)"
cmp with.json without.json || fail 'another evidence without a GPU'
expect 2 'device cpu uses the processor' $no_gpu "$gess" resume line.gpu --draws 20 --quiet
expect 0 '' $no_gpu "$gess" resume line.gpu --draws 20 --device cpu --quiet

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

# a density of many points on the device, as a plug-in: the draws of the processor; the same without a density for the
# processor; resumed on either; its errors with the point and its words
for what in both: only:-DONLY fails:-DFAILS; do
    cc -O2 -ffp-contract=off ${what#*:} -I"$source/include" -fPIC -shared -o "batch_${what%%:*}.so" "$source/tests/cuda/batch.c" ||
        fail 'the plug-in does not build'
done
both batch ./batch_both.so $short
grep -q 'calls' batch.txt || fail 'the density was not called'
expect 0 '' "$gess" sample ./batch_only.so $short --device cuda --out batch_only --quiet
cmp batch.cpu/draws.gess batch_only/draws.gess || fail 'other draws without a density for the processor'
expect 0 '' "$gess" resume batch.gpu --draws 20 --quiet
expect 0 '' "$gess" resume batch_only --draws 20 --device cuda --quiet
cmp batch.gpu/draws.gess batch_only/draws.gess || fail 'resumed on the other device: other draws of a batch'
expect 1 'works on one; name one GPU' "$gess" sample ./batch_both.so $short --device cuda:0,1 --out none
only='the density of this model runs on a GPU only'
expect 2 "$only" "$gess" sample ./batch_only.so $short --quiet --out none
expect 2 "$only" "$gess" resume batch_only --draws 30 --quiet --device cpu
expect 2 "$only" "$gess" check ./batch_only.so
echo 1,1,0 >point.csv
expect 2 "$only" "$gess" eval ./batch_only.so --points point.csv
expect 2 'the model returned error 7 on the GPU, at x1 = ' "$gess" sample ./batch_fails.so $short --device cuda --out fails --quiet
expect 2 'it says: the table is not loaded' "$gess" sample ./batch_fails.so $short --device cuda --out fails2 --quiet

# without a compiler for the processor the GPU evaluates everything
CXX=/nowhere/c++ "$gess" sample nan.cu $run --device cuda --out no_compiler 2>no_compiler.txt || fail "no compiler: $(cat no_compiler.txt)"
cmp no_compiler/draws.gess nan.cpu/draws.gess || fail 'other draws without a compiler'
expect 2 'needs a C++ compiler to run on the processor' env CXX=/nowhere/c++ "$gess" sample nan.cu $run --out none
expect 2 'needs a C++ compiler, which is not found' env CXX=/nowhere/c++ "$gess" sample line/line.cu --data line/data.csv \
    --device cuda --out none

# the benchmark
"$gess" bench gpu --quick --models gaussian:dim=4,nan.cu --json >bench.json || fail "bench gpu: $(cat bench.json)"
[ "$(grep -c '"evals_per_second"' bench.json)" -eq 2 ] || fail "bench gpu: $(cat bench.json)"

# the example with a kernel of its own compiles
if command -v nvcc >/dev/null; then
    nvcc -std=c++17 -shared -Xcompiler -fPIC -I "$source/include" -o kernel.so "$source/examples/cuda/kernel.cu" ||
        fail 'examples/cuda/kernel.cu does not compile'
fi

# what the machine lacks
expect 2 'there is no NVIDIA GPU on this machine' env EMULATED_DEVICES=0 "$gess" sample gaussian $run --device cuda --out none
expect 2 'the NVIDIA driver is too old' env EMULATED_DRIVER=9000 "$gess" sample gaussian $run --device cuda --out none
expect 4 'use fewer chains' env EMULATED_MEMORY=1 "$gess" sample gaussian:dim=50 --chains 2000 --draws 10 --device cuda \
    --quiet --out none
expect 1 'there is no such GPU' "$gess" sample gaussian $run --device cuda:1 --out none
# where there is no real one
real=$(LD_LIBRARY_PATH= "$gess" sample nan.cu $run --device cuda --out real 2>&1)
status=$?
case $status:$real in
0:* | 2:*'there is no NVIDIA'*) ;;
*) fail "without the emulator: status $status: $real" ;;
esac
exit $failed
