#!/bin/sh
# The library takes from libm and libc only numeric functions whose results are exact or correctly rounded everywhere,
# and no source uses long double, which is another type on every processor.
#   numeric.sh SOURCE_FOLDER LIBRARY
set -eu
source=$1
library=$2

# Exact by definition (IEEE 754 and C17), in glibc and in musl. strtod_l is correctly rounded in both.
allowed='ceil copysign fabs floor fma fmod frexp ilogb ldexp llrint logb lrint modf nearbyint remainder rint scalbn sqrt strtod_l trunc'

libm=$(ldd "$library" | awk '$1 ~ /^libm\.so/ { print $3 }')
[ -z "$libm" ] || functions=$(nm -D --defined-only "$libm" | awk '{ print $3 }' | sed 's/@.*//')
functions="${functions:-} acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fdim fmax fmin
    fmod gamma hypot lgamma lgamma_r log log10 log1p log2 pow remainder sin sincos sinh tan tanh tgamma
    atof drand48 erand48 fscanf rand random rand_r scanf sscanf strtod strtof strtof_l strtold strtold_l vsscanf"
# shellcheck disable=SC2086
bad=$(nm -D --undefined-only "$library" | awk '{ print $2 }' | sed 's/@.*//' | awk -v functions="$(echo $functions)" -v allowed="$allowed" '
    BEGIN {
        n = split(functions, f, " "); for (i = 1; i <= n; i++) numeric[f[i]] = 1
        n = split(allowed, f, " "); for (i = 1; i <= n; i++) delete numeric[f[i]]
    }
    { name = $1; sub(/^__isoc99_/, "", name); sub(/_finite$/, "", name); sub(/^__/, "", name) }
    ($1 in numeric) || (name in numeric) { print $1 }')
if [ -n "$bad" ]; then
    echo "$library imports functions whose last bits differ between systems; base/vmath.h and base/special.h have others:"
    echo "$bad"
    exit 1
fi

long=$(grep -rnE 'long double|[0-9]L\b|__float128|_Float' "$source/src" --include='*.c' --include='*.h' |
    grep -vE ':[[:space:]]*(/\*|\*)| \* ' || true)
if [ -n "$long" ]; then
    echo 'long double differs between processors; base/sums.h has sums to twice the digits of a double:'
    echo "$long"
    exit 1
fi
