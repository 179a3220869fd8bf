#!/bin/sh
# The test of sizes must itself fail on a long file and on a long function: plant both in a copy.
#   sizes_fails.sh SOURCE_FOLDER
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/src/base" "$copy/cli"

# lines COUNT TEXT: COUNT lines of TEXT
lines()
{
    i=0
    while [ $i -lt "$1" ]; do
        echo "$2"
        i=$((i + 1))
    done
}
check()
{
    sh "$1/tests/structure/sizes.sh" "$copy" > "$copy/out"
}

{ echo 'static int short_one(void)'; echo '{'; lines 58 '    f();'; echo '}'; } > "$copy/src/base/function.c"
{ echo '/* A table.'; echo ' * Length: rows of one table. */'; lines 600 'int f(void);'; } > "$copy/src/base/reason.h"
lines 500 'int f(void);' > "$copy/cli/file.c"
check "$1" || { cat "$copy/out"; echo "what is within the limits was refused"; exit 1; }

{ echo 'static int long_one(void)'; echo '{'; lines 59 '    f();'; echo '}'; } > "$copy/src/base/function.c"
if check "$1"; then echo "a function of 61 lines was not found"; exit 1; fi
grep 'long_one' "$copy/out"

lines 10 'int f(void);' > "$copy/src/base/function.c"
lines 501 'int f(void);' > "$copy/cli/file.c"
if check "$1"; then echo "a file of 501 lines was not found"; exit 1; fi
grep 'cli/file.c: 501 lines' "$copy/out"
