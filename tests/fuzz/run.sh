#!/bin/sh
# Fuzzes every reader of files with libFuzzer under ASan and UBSan (clang and its runtime are needed).
#   run.sh [MINUTES [READER...]]       by default 10 minutes each of: checkpoint draws csv config program
# FUZZ_SECONDS, if set, is the time for all readers together, in place of MINUTES.
# It builds in build/fuzz of the source folder, or in $BUILD. Findings stay in $BUILD/findings; what was learnt, in $BUILD/corpus-READER.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$source/build/fuzz}
minutes=${1:-10}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- checkpoint draws csv config program
seconds=$((${FUZZ_SECONDS:-$((minutes * 60 * $#))} / $#)) # per reader
cc=${CLANG:-clang}
flags=address,undefined

if ! command -v "$cc" > /dev/null; then
    echo "skipped: there is no clang"
    exit 77
fi
cmake -S "$source" -B "$build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGESS_TESTS=OFF -DGESS_LIBDEFLATE=OFF \
    -DGESS_SANITIZE=$flags,fuzzer-no-link > /dev/null
cmake --build "$build" -j "$(nproc)" --target gess_static gess_command > "$build/build.txt" || {
    cat "$build/build.txt"
    exit 1
}
mkdir -p "$build/findings" "$build/seeds"
cd "$build"

# ---- seeds, from gess itself ----
rm -rf seeds
mkdir -p seeds/checkpoint seeds/draws seeds/csv seeds/config seeds/program
number=0
for options in 'mixture --ensembles 2 --warmup 10 --max-evals 2000' 'mixture --ensembles 2 --warmup 10 --draws 3' \
    'banana --schedule two-group --warmup 10 --draws 3 --save-warmup'; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    ./gess sample $options --chains 4 --threads 1 --checkpoint-every 2 -q -o seeds/run > build.txt 2>&1 || {
        cat build.txt
        exit 1
    }
    for file in checkpoint checkpoint.old; do cp seeds/run/$file seeds/checkpoint/$number-$file; done
    cp seeds/run/draws.gess seeds/draws/$number
    [ ! -e seeds/run/warmup.gess ] || cp seeds/run/warmup.gess seeds/draws/$number-warmup
    cp seeds/run/config.json seeds/config/$number
    rm -rf seeds/run
done
# checkpoints with a learned map and with a mixture of t; the version's byte says which (checkpoint.c)
kind=1
for run in funnel:1000 mixture:600; do
    kind=$((kind + 1))
    model=${run%:*}
    ./gess sample "$model" --chains 12 --warmup "${run#*:}" --draws 3 --threads 1 --checkpoint-every 5 -q -o seeds/run
    for file in checkpoint checkpoint.old; do
        cp seeds/run/$file seeds/checkpoint/$model-$file
        printf "\\00$kind" | dd of=seeds/checkpoint/$model-$file bs=1 seek=8 conv=notrunc 2> /dev/null
    done
    rm -rf seeds/run
done
head -n 4 "$source/data/german_credit.csv" > seeds/csv/1
head -n 4 "$source/data/mixture_means.csv" > seeds/csv/2
printf '# a comment\nlp__,accept_stat__,x.1,"y, z"\n-1.5,1,2e-3,nan\n# Adaptation\n-inf,0.5,+3,1e999\n' > seeds/csv/3
printf '\003\000ok binary 3 mu sigma(0,inf) phi(-3,3,periodic)\n' > seeds/program/1
printf '\004\000-1.5\n2e-3\n-inf\nnan\n0\n' > seeds/program/2

# ---- the harnesses; their files are in memory where there is such a place ----
TMPDIR=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/gess-fuzz-XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
status=0
for reader; do
    # shellcheck disable=SC2046
    "$cc" -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=$flags,fuzzer -fno-sanitize-recover=all -I "$source/src" -I "$source/include" \
        "$source/tests/fuzz/$reader.c" -o "fuzz-$reader" libgess.a $(pkg-config --libs jansson zlib) -lpthread -ldl -lm
    mkdir -p "corpus-$reader"
    if ! ASAN_OPTIONS=allocator_may_return_null=1 "./fuzz-$reader" -max_total_time=$seconds -rss_limit_mb=2048 -malloc_limit_mb=1024 \
        -timeout=10 -max_len=65536 -print_final_stats=1 -artifact_prefix=findings/$reader- "corpus-$reader" "seeds/$reader" \
        > "fuzz-$reader.txt" 2>&1; then
        status=1
        echo "FAILED: $reader"
        tail -n 40 "fuzz-$reader.txt"
    fi
    echo "$reader: $(sed -n 's/^stat::number_of_executed_units: *//p' "fuzz-$reader.txt") executions in $seconds s"
done
exit $status
