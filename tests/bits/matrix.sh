#!/bin/sh
# Builds libgess in many ways, makes the runs of bits.c with each, and compares their checksums with the stored ones. A
# run that one build has begun is resumed by another.
#   matrix.sh SOURCE_FOLDER WORK_FOLDER [BUILD...]     BUILD: a name of the list below; without one, all
# Long: the emulated builds take minutes.
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
shift 2
expected=$source/tests/bits/checksums
all='gcc-O2 gcc-O3 clang-O2 clang-O3 baseline no-fma avx2 avx2-code avx512-code musl aarch64'
[ $# -gt 0 ] || set -- $all
failed=

# build NAME CC FLAGS [CMAKE_OPTION...]: libgess.a and bits in $work/NAME
build()
{
    name=$1
    cc=$2
    flags=$3
    shift 3
    cmake -S "$source" -B "$work/$name" -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=None \
        -DGESS_TESTS=OFF -DGESS_MPI=OFF -DGESS_CUDA=OFF -DGESS_NETCDF=OFF -DGESS_HDF5=OFF -DGESS_REPORT=OFF -DGESS_LIBDEFLATE=OFF "$@" \
        >"$work/$name.log"
    cmake --build "$work/$name" -j "$(nproc)" --target gess_static >>"$work/$name.log" 2>&1 || {
        tail -n 20 "$work/$name.log"
        exit 1
    }
    # shellcheck disable=SC2086
    "$cc" -std=c17 -D_GNU_SOURCE -O1 -ffp-contract=off -I "$source/include" "$source"/tests/bits/*.c -o "$work/$name/bits" $link \
        "$work/$name/libgess.a" $(pkg-config --libs jansson zlib) -lpthread -ldl -lm
}

# What runs a build's programs.
emulator()
{
    if [ "$1" = aarch64 ]; then echo qemu-aarch64; fi
}

# compare LABEL COMMAND...: the checksums are the stored ones
compare()
{
    label=$1
    shift
    began=$(date +%s)
    if "$@" >"$work/$label.sums" && cmp -s "$work/$label.sums" "$expected"; then
        echo "$label: the same, $(wc -l <"$expected") runs, $(($(date +%s) - began)) s"
    else
        echo "$label: OTHER CHECKSUMS"
        diff "$expected" "$work/$label.sums" | head -n 20 || true
        failed="$failed $label"
    fi
}

for name; do
    link=
    unset PKG_CONFIG_LIBDIR
    case $name in
    gcc-O2) build $name gcc -O2 ;;
    gcc-O3) build $name gcc -O3 ;;
    clang-O2) build $name clang -O2 ;;
    clang-O3) build $name clang -O3 ;;
    baseline | no-fma) build $name gcc '-O2 -DGESS_NO_CLONES' ;;
    avx2) build $name gcc '-O3 -DGESS_MAX_VECTORS=1' ;; # the code for AVX2 that is written by hand
    avx2-code) build $name gcc '-O3 -DGESS_NO_CLONES -march=x86-64-v3' ;;
    avx512-code) build $name gcc '-O3 -DGESS_NO_CLONES -march=x86-64-v4' ;;
    musl)
        sh "$source/tests/bits/libraries.sh" musl-gcc "$work/musl-libraries" >"$work/musl.log" 2>&1
        PKG_CONFIG_LIBDIR=$work/musl-libraries/lib/pkgconfig
        export PKG_CONFIG_LIBDIR
        link=-static
        build $name musl-gcc -O2 -DRANDOM123_INCLUDE="$work/musl-libraries/include"
        ;;
    aarch64)
        sh "$source/tests/bits/libraries.sh" aarch64-linux-gnu-gcc "$work/aarch64-libraries" aarch64 >"$work/aarch64.log" 2>&1
        PKG_CONFIG_LIBDIR=$work/aarch64-libraries/lib/pkgconfig
        export PKG_CONFIG_LIBDIR
        link=-static
        build $name aarch64-linux-gnu-gcc -O2 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
            -DRANDOM123_INCLUDE="$work/aarch64-libraries/include"
        ;;
    *)
        echo "matrix.sh: there is no build $name; there are $all" >&2
        exit 2
        ;;
    esac
    case $name in
    no-fma) # fma() of libm in software, as on processors without the instruction
        GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F,-AVX compare $name "$work/$name/bits" ;;
    *) compare $name $(emulator $name) "$work/$name/bits" ;;
    esac
    # begun here, resumed by the build before; and the other way round
    if [ -n "${before:-}" ]; then
        for order in "$name:$before" "$before:$name"; do
            rm -rf "$work/begun"
            mkdir "$work/begun"
            one=${order%:*} two=${order#*:}
            $(emulator $one) "$work/$one/bits" first "$work/begun"
            compare "$one-then-$two" $(emulator $two) "$work/$two/bits" second "$work/begun"
        done
    fi
    before=$name
done
if [ -n "$failed" ]; then
    echo "other bits:$failed"
    exit 1
fi
