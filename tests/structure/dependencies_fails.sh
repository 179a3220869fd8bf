#!/bin/sh
# The rule's test must itself fail on a back edge: plant one in a copy and see.
#   dependencies_fails.sh SOURCE_FOLDER
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$1/src" "$copy/src"
echo '#include "kernel/kernel.h"' >> "$copy/src/base/mem.c"
if sh "$1/tests/structure/dependencies.sh" "$copy" > "$copy/out"; then
    echo "a back edge from base to kernel was not found"
    exit 1
fi
grep 'base may not include from kernel' "$copy/out"
