#!/bin/sh
# Stores the checksums of the runs of bits.c: those that the native build makes without a stop, if the stopped and
# resumed runs of that build and of two others (gcc with the baseline's instructions, clang) have the same. Otherwise the
# stored ones stay. `make checksums`
#   store.sh BITS SOURCE_FOLDER WORK_FOLDER
set -eu
bits=$1
source=$2
work=$3
stored=$source/tests/bits/checksums
mkdir -p "$work"
cp "$stored" "$work/checksums.before"
restore()
{
    cp "$work/checksums.before" "$stored"
    echo 'the checksums are stored as they were' >&2
}
trap restore EXIT
trap 'exit 130' HUP INT TERM
"$bits" straight >"$work/checksums.new"
cp "$work/checksums.new" "$stored"
sh "$source/tests/bits/bits.sh" "$bits" "$source"
sh "$source/tests/bits/matrix.sh" "$source" "$work" baseline clang-O3
trap - EXIT
changed=$(diff "$work/checksums.before" "$stored" | grep -c '^>' || true)
echo "stored: $(wc -l <"$stored") lines, $changed new or changed"
