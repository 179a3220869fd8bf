#!/bin/sh
# numeric.sh must refuse a library that imports log() or strtod() or calls the compiler's powers, and a source with long double.
#   numeric_fails.sh SOURCE_FOLDER
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"

library()
{
    printf '#include <math.h>\n#include <stdlib.h>\ndouble f(double x, const char *s);\n%s\n' "$1" >"$work/f.c"
    cc -shared -fPIC -O1 "$work/f.c" -o "$work/f.so" -lm
}

library 'double f(double x, const char *s) { return fma(x, x, (double)(s != NULL)); }'
sh "$source/tests/structure/numeric.sh" "$work" "$work/f.so" || { echo 'a good library was refused'; exit 1; }
for call in 'log(x)' 'exp(x)' 'lgamma(x)' 'fmax(x, 1.0)' 'strtod(s, NULL)' 'erand48((unsigned short *)s)' \
    'atof(s)' 'cbrt(x)'; do
    library "double f(double x, const char *s) { return $call + x * (double)(s != NULL); }"
    if sh "$source/tests/structure/numeric.sh" "$work" "$work/f.so" >/dev/null; then
        echo "$call was not refused"
        exit 1
    fi
done
# what only the archive shows: a power with an integer exponent, of the compiler's library
library 'double f(double x, const char *s) { return x * (double)(s != NULL); }'
sh "$source/tests/structure/numeric.sh" "$work" "$work/f.so"
echo 'double f(double x, int n) { return __builtin_powi(x, n); }' >"$work/g.c"
cc -c -O1 "$work/g.c" -o "$work/g.o"
ar rc "$work/g.a" "$work/g.o"
if sh "$source/tests/structure/numeric.sh" "$work" "$work/f.so" "$work/g.a" >/dev/null; then
    echo '__powidf2() was not refused'
    exit 1
fi
echo 'static long double sum;' >"$work/src/sum.c"
if sh "$source/tests/structure/numeric.sh" "$work" "$work/f.so" >/dev/null; then
    echo 'long double was not refused'
    exit 1
fi
