#!/bin/sh
# The runs of bits.c have the stored checksums, in a locale with a decimal comma. `make test` asks the native build and
# the one with sanitizers, which has the baseline's instructions only.
#   bits.sh BITS SOURCE_FOLDER
set -eu
sums=$(mktemp)
trap 'rm -f "$sums"' EXIT
sh "$2/tests/comma_locale.sh" "$2" "$1" >"$sums"
if ! cmp -s "$sums" "$2/tests/bits/checksums"; then
    echo 'These runs have other bytes than those stored in tests/bits/checksums (its columns are explained in bits.c):'
    diff "$2/tests/bits/checksums" "$sums" || true
    echo 'If a change of the method meant this, store the new ones: make checksums'
    exit 1
fi
