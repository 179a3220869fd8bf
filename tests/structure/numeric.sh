#!/bin/sh
# The library takes from libm and libc only numeric functions whose results are exact or correctly rounded everywhere,
# and no source uses long double, which is another type on every processor.
#   numeric.sh SOURCE_FOLDER LIBRARY [ARCHIVE]     ARCHIVE: the same as libgess.a, whose calls of the compiler's own library
#                                                  show
set -eu
source=$1
library=$2
archive=${3:-}

# Exact by definition (IEEE 754 and C17), in glibc and in musl. strtod_l is correctly rounded in both. fegetenv and fesetenv
# compute nothing.
allowed='ceil copysign fabs fegetenv fesetenv floor fma fmod frexp ilogb ldexp llrint logb lrint modf nearbyint remainder rint scalbn sqrt strtod_l trunc'

libm=$(ldd "$library" | awk '$1 ~ /^libm\.so/ { print $3 }')
[ -z "$libm" ] || functions=$(nm -D --defined-only "$libm" | awk '{ print $3 }' | sed 's/@.*//')
functions="${functions:-} acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fdim fmax fmin
    fmod gamma hypot lgamma lgamma_r log log10 log1p log2 pow remainder sin sincos sinh tan tanh tgamma
    atof drand48 ecvt ecvt_r erand48 fcvt fcvt_r fscanf gcvt jrand48 lrand48 mrand48 nrand48 qecvt qfcvt qgcvt rand random
    random_r rand_r scanf sscanf strfmon strfromd strfromf strfroml strtod strtof strtof_l strtold strtold_l vfscanf vscanf
    vsscanf"
# and of the compiler's library: powers, complex numbers, long double, numbers of 16 bytes; vector functions of libmvec
helpers='^__(powi[sdtx]f2|(mul|div)[hsdtx]c3|(add|sub|mul|div|neg|extend.*|trunc.*|fix.*|float.*)[tx]f.*)$|^_ZGV'
list=$(for file in "$library" ${archive:+"$archive"}; do
    case $file in *.a) nm -u "$file" 2>/dev/null ;; *) nm -D -u "$file" ;; esac
done | awk 'NF == 2 { print $2 }' | sed 's/@.*//' | sort -u)
# shellcheck disable=SC2086
numeric=$(echo "$list" | awk -v functions="$(echo $functions $allowed)" -v helpers="$helpers" '
    BEGIN { n = split(functions, f, " "); for (i = 1; i <= n; i++) numeric[f[i]] = 1 }
    { name = $1; sub(/^__isoc[0-9]*_/, "", name); sub(/_finite$/, "", name); sub(/^__/, "", name) }
    ($1 in numeric) || (name in numeric) || $1 ~ helpers { print $1 }')
# shellcheck disable=SC2086
bad=$(echo "$numeric" | awk -v allowed="$(echo $allowed)" '
    BEGIN { n = split(allowed, f, " "); for (i = 1; i <= n; i++) exact[f[i]] = 1 }
    NF > 0 && !($1 in exact)')
echo "numeric functions that $(basename "$library") imports:" $numeric
if [ -n "$bad" ]; then
    echo "The last bits of these differ between systems; base/vmath.h and base/special.h have others:"
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
