#!/bin/sh
# The test of heads must itself fail on a file without a first comment, and on an empty comment: plant both in a copy.
#   heads_fails.sh SOURCE_FOLDER
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/src/base" "$copy/cli" "$copy/tools/bench"

check()
{
    sh "$1/tests/structure/heads.sh" "$copy" > "$copy/out"
}
# refuses SOURCE_FOLDER FILE: the test must fail and name the file
refuses()
{
    if check "$1"; then echo "$2 was not found"; exit 1; fi
    grep "^$2:" "$copy/out"
}

printf '/* Adds numbers. */\n#include "add.h"\n' > "$copy/src/base/add.c"
printf '/*\n * Adds numbers.\n */\nint add(int a, int b);\n' > "$copy/cli/add.h"
check "$1" || { cat "$copy/out"; echo "a comment was refused"; exit 1; }

printf '#include "add.h"\n/* Adds numbers. */\n' > "$copy/src/base/add.c"
refuses "$1" src/base/add.c
printf '/* Adds numbers. */\n' > "$copy/src/base/add.c"

printf '\n/* Adds numbers. */\n' > "$copy/cli/add.h"
refuses "$1" cli/add.h
printf '/* Adds numbers. */\n' > "$copy/cli/add.h"

printf '/* */ int adds_numbers(int a, int b);\n' > "$copy/tools/bench/add.h"
refuses "$1" tools/bench/add.h
: > "$copy/tools/bench/add.h"
refuses "$1" tools/bench/add.h
