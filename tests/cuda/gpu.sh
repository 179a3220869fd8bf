#!/bin/sh
# Runs on a GPU have the bytes of runs on the processor, for every built-in model that has code for it, with learned maps,
# bounds, mixtures and every kind of move, stopped and resumed on the other; and a GPU run repeats itself. Skipped where
# there is no GPU.
# So have models in CUDA source files, plug-ins with a kernel (if there is nvcc) and runs on several GPUs (if there are).
#   gpu.sh GESS SOURCE_FOLDER
set -u
source=$2
. "$(dirname "$0")/../command.sh"

"$gess" sample gaussian --device cuda --chains 64 --draws 4 --out probe --quiet 2>probe.txt || {
    cat probe.txt
    grep -q 'no NVIDIA' probe.txt && exit 77
    exit 1
}
grep -q emulated probe/log.txt && emulated=1 || emulated=0 # emulator/README.md

device=cuda:0
. "$(dirname "$0")/both.sh"

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
german='german-credit --chains 256 --warmup 30' # warm-up that ends itself depends on the number of draws
"$gess" sample $german --draws 40 --out whole --quiet
for first in cpu cuda; do
    second=$([ $first = cpu ] && echo cuda || echo cpu)
    "$gess" sample $german --draws 20 --device $first --out "part.$first" --quiet
    "$gess" resume "part.$first" --draws 40 --device $second --quiet
    cmp whole/draws.gess "part.$first/draws.gess" || fail "resumed on $second: other draws"
done

# a model in a CUDA source file, with and without the functions that have the same bits; its mistakes
"$gess" new line --lang cuda >/dev/null
both line line/line.cu --data line/data.csv $short
both line_groups line/line.cu --data line/data.csv --chains 256 --draws 20 --schedule two-group --warmup 40
sed 's/gess_log(/log(/' line/line.cu >line/libm.cu
"$gess" sample line/libm.cu --data line/data.csv --device cuda --chains 4096 --draws 20 --out libm --quiet 2>libm.txt || fail "libm: $(cat libm.txt)"
"$gess" summary libm --csv | awk -F, '/^"?slope/ { found = $2 > 0.93 && $2 < 1.01 } END { exit !found }' || fail 'another posterior with log()'
head='// gess: parameter a
#include <gess/gess_cuda.h>
__device__ double logp(size_t dim, const double *x, const gess_data *data)
{'
printf '%s\n    return x[0] > 1.5 ? NAN : -0.5 * x[0] * x[0];\n}\n' "$head" >nan.cu
both nan nan.cu --chains 256 --draws 20
[ -s nan.gpu/nans.csv ] || fail 'no points of NaN'
printf '%s\n    return x[0] > 4 ? INFINITY : -0.05 * x[0] * x[0];\n}\n' "$head" >infinite.cu
expect 2 'the log density is +infinity at a = ' "$gess" sample infinite.cu --chains 256 --draws 200 --device cuda --quiet --out infinite
printf '%s\n    return undefined_here;\n}\n' "$head" >wrong.cu
expect 2 'wrong.cu' "$gess" sample wrong.cu --device cuda --quiet --out wrong
# a density that reads wrong memory, on the GPU only
[ $emulated = 1 ] || {
    printf '%s\n#ifdef __CUDACC__\n    if (x[0] > 2) return *(const double *)(8 + (size_t)(x[0] < 3));\n#endif\n    return -0.5 * x[0] * x[0];\n}\n' "$head" >fault.cu
    expect 2 'the density fault.cu failed on the GPU' "$gess" sample fault.cu --chains 256 --draws 200 --device cuda --quiet --out fault
}

# plug-ins with a kernel
if [ $emulated = 0 ] && command -v nvcc >/dev/null; then
    for what in both: only:-DONLY fails:-DFAILS; do
        nvcc -x cu --fmad=false -O2 ${what#*:} -Xcompiler -ffp-contract=off,-fPIC -shared -I "$source/include" \
            -o "batch_${what%%:*}.so" "$source/tests/cuda/batch.c" || fail 'the plug-in does not build'
    done
    both batch ./batch_both.so $short
    "$gess" sample ./batch_only.so $short --device cuda --out batch_only --quiet 2>only.txt || fail "only: $(cat only.txt)"
    cmp batch.cpu/draws.gess batch_only/draws.gess || fail 'other draws without a density for the processor'
    expect 2 'it says: the table is not loaded' "$gess" sample ./batch_fails.so $short --device cuda --out fails --quiet
    nvcc -std=c++17 -O3 -shared -Xcompiler -fPIC -I "$source/include" -o kernel.so "$source/examples/cuda/kernel.cu" || fail 'kernel.cu'
    expect 0 '' "$gess" sample ./kernel.so --device cuda --chains 4096 --draws 20 --out kernel --quiet
fi

# several GPUs
if "$gess" sample gaussian --device cuda:0,1 --chains 64 --draws 4 --out probe2 --quiet 2>/dev/null; then
    "$gess" sample $german --draws 40 --device cuda:0,1 --out two --quiet || fail 'two GPUs'
    cmp whole/draws.gess two/draws.gess || fail 'other draws on two GPUs'
fi

expect 0 'german-credit' "$gess" bench gpu --quick --models german-credit
expect 1 'there is no such GPU' "$gess" sample gaussian --device cuda:99 --out none
exit $failed
