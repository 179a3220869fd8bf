#!/bin/sh
# Models in shared objects: a good one is sampled and closed once; every other is refused with status 2
# and a message that says why, before anything is run or written.
#   plugin.sh GESS SOURCE_FOLDER
set -eu
gess=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# One source for all: parts are replaced from the command line.
cat > model.c <<'END'
#include <gess/gess.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#ifndef ABI
#define ABI GESS_ABI
#endif
#ifndef NAMES
#define NAMES "a", "b"
#endif
#ifndef SUM
#define SUM "sum"
#endif
#ifndef LOWER
#define LOWER -INFINITY, 0
#endif
#ifndef UPPER
#define UPPER INFINITY, INFINITY
#endif
#ifndef CHANGE
#define CHANGE
#endif
#ifndef FAIL
#define FAIL
#endif

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = -0.5 * x[i * dim] * x[i * dim] - x[i * dim + 1];
    return 0;
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[0] = x[0] + x[1];
    return 0;
}

#ifndef NO_ABI
const unsigned gess_plugin_abi = ABI;
#endif

#ifndef NO_OPEN
int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    static const char *const names[] = {NAMES};
    static const double lower[] = {LOWER}, upper[] = {UPPER};
    static const unsigned char periodic[] = {0, 1};
    static const char *const derived_names[] = {SUM};
    (void)data, (void)message, (void)size, (void)periodic;
    fprintf(stderr, "open called\n");
    density->dim = 2;
    density->logp = logp;
    density->names = names;
    density->lower = lower;
    density->upper = upper;
    density->derived = 1;
    density->derived_names = derived_names;
    density->derive = derive;
    CHANGE;
    FAIL;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    fprintf(stderr, "close called for dim %zu%s\n", density->dim, density->name != NULL ? ", named" : "");
}
#endif
END

# build NAME FLAGS...
build()
{
    name=$1
    shift
    cc -std=c17 -Wall -Wextra -Werror -fPIC -shared -I "$source/include" "$@" -o "$name.so" model.c
}

# refused PATH TEXT OPTION...: the message contains TEXT, and nothing was run or written
refused()
{
    path=$1
    text=$2
    shift 2
    status=0
    "$gess" sample "$path" --draws 10 "$@" > out 2> err || status=$?
    if [ $status -ne "${expect:-2}" ] || ! grep -qF -e "$text" err; then
        echo "$path: status $status, expected ${expect:-2} and '$text' in: $(cat err)"
        exit 1
    fi
    if [ -e gess-runs ] || [ -s out ]; then
        echo "$path: refused, but something was run: $(ls gess-runs) $(cat out)"
        exit 1
    fi
    # the model was closed as often as opened, unless `open` failed
    opened=$(grep -c 'open called' err || true)
    closed=$(grep -c 'close called' err || true)
    if [ "$closed" -ne "${closes:-$opened}" ]; then
        echo "$path: opened $opened times, closed $closed times: $(cat err)"
        exit 1
    fi
    cases=$((cases + 1))
}
cases=0

# ---- a good one ----
build good
"$gess" sample ./good.so --draws 200 --chains 20 --quiet -o run 2> err
printf 'open called\nclose called for dim 2\n' | cmp - err
"$gess" summary run > out
for name in a b sum lp__; do
    grep -q "^$name " out || { echo "the summary has no $name: $(cat out)"; exit 1; }
done
echo 1,2 | "$gess" eval ./good.so > out 2> err
printf 'lp__\n-2.5\n' | cmp - out
"$gess" sample "$folder/good.so" --draws 5 --chains 20 --quiet -o absolute 2> err
"$gess" sample ./good.so --data model.c --draws 5 --chains 20 --quiet -o data 2> err
build named '-DCHANGE=density->name="mine"'
"$gess" sample ./named.so --draws 5 --chains 20 --quiet -o named 2> err
printf 'open called\nclose called for dim 2, named\n' | cmp - err
# allowed, since they are escaped when written
build odd '-DNAMES="say \"a, b\"\n","µ=cmd()</script>"'
"$gess" sample ./odd.so --draws 5 --chains 20 --quiet -o odd 2> err

# ---- not a model ----
refused ./nothing.so 'No such file'
mkdir a_folder
refused ./a_folder 'is a folder'
refused /dev/null 'not a file'
echo 'not a shared object' > text.so
refused ./text.so 'cannot load the model ./text.so'
: > empty.so
refused ./empty.so 'cannot load the model'
for bytes in 1 3 63 64 100 1000 3000 9000; do
    head -c $bytes good.so > cut.so
    refused ./cut.so 'the model ./cut.so'
done
if [ "$(id -u)" -ne 0 ]; then
    cp good.so locked.so
    chmod a-r locked.so
    refused ./locked.so 'Permission denied'
fi
build unresolved '-DCHANGE=extern void no_such_function(void);no_such_function()'
refused ./unresolved.so 'no_such_function'
# without a slash no file is searched, neither in this folder nor in library folders
expect=1
refused good.so "unknown model 'good.so'"
refused libm.so.6 'unknown model'
refused ./good.so '--kernel nuts needs a gradient, and this model gives none' --kernel nuts
expect=2

# ---- another interface ----
build abi -DABI=3
refused ./abi.so 'was built for interface version 3, this gess has 2; rebuild it'
build no_abi -DNO_ABI
refused ./no_abi.so 'no symbol gess_plugin_abi'
build no_open -DNO_OPEN -Wno-unused-function
refused ./no_open.so 'no symbol gess_plugin_open'
build small '-DCHANGE=density->size=8'
refused ./small.so "the density's \`size\` is 8"

# ---- the data file ----
refused ./good.so 'cannot read --data missing.csv' --data missing.csv
if grep -q 'open called' err; then echo "opened without its data file"; exit 1; fi
closes=0
build fails '-DFAIL=snprintf(message,size,"line 3 of %s is odd",data);return 7'
refused ./fails.so 'line 3 of model.c is odd' --data model.c
build fails_silently '-DFAIL=return 7'
refused ./fails_silently.so 'returned 7, without a message'
build fails_at_length '-DFAIL=memset(message,120,size);return 7'
refused ./fails_at_length.so 'xxxxxx'
closes=

# ---- the model's description of itself ----
build dim '-DCHANGE=density->dim=0'
refused ./dim.so 'no parameters'
build huge '-DCHANGE=density->dim=(size_t)-1'
refused ./huge.so 'at most'
build no_logp '-DCHANGE=density->logp=NULL'
refused ./no_logp.so 'no log density'
build dot '-DNAMES="a","b.1"'
refused ./dot.so "'b.1': a name may not have a dot"
build empty_name '-DNAMES="a",""'
refused ./empty_name.so 'parameter 2 of the model has no name'
build null_name '-DNAMES="a",NULL'
refused ./null_name.so 'parameter 2 of the model has no name'
build twice '-DNAMES="a","a"'
refused ./twice.so "two quantities with the name 'a'"
build twice_derived '-DNAMES="a","sum"'
refused ./twice_derived.so "two quantities with the name 'sum'"
build twice_default '-DCHANGE=density->names=NULL' '-DSUM="x2"'
refused ./twice_default.so "two quantities with the name 'x2'"
build ours '-DNAMES="a","lp__"'
refused ./ours.so 'end in __'
build bytes '-DNAMES="a","\xc3\x28"'
refused ./bytes.so 'name of parameter 2 is not valid UTF-8'
build overlong '-DNAMES="a","\xc0\xaf"'
refused ./overlong.so 'not valid UTF-8'
build bytes_name '-DCHANGE=density->name="\xff"'
refused ./bytes_name.so 'not valid UTF-8'
build nan_bound -DLOWER=-INFINITY,NAN
refused ./nan_bound.so "'b': its lower bound is NaN"
build crossed -DLOWER=0,2 -DUPPER=1,1
refused ./crossed.so "'b': its lower bound 2 is above its upper bound 1"
build nowhere -DLOWER=0,INFINITY
refused ./nowhere.so "'b': bounds from inf to inf"
build fixed -DLOWER=1,2 -DUPPER=1,2
refused ./fixed.so 'nothing is left to sample'
build circle '-DCHANGE=density->periodic=periodic'
refused ./circle.so "'b' is periodic, so it needs finite bounds"
build no_derive '-DCHANGE=density->derive=NULL'
refused ./no_derive.so "no function \`derive\`"
build no_derived_names '-DCHANGE=density->derived_names=NULL'
refused ./no_derived_names.so 'no derived_names'
build dot_derived '-DSUM="s.1"'
refused ./dot_derived.so "derived quantity 's.1'"
# an object that is built with -ffast-math does not make the sampler round small numbers to 0
cat > small.c <<'END'
#include <float.h>
#include <gess/gess.h>
#include <stdio.h>
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    static int said;
    volatile double least = DBL_MIN, half = least / 2;
    union { double number; unsigned long long bits; } is = {half};
    (void)user, (void)worker;
    if (said++ == 0) fprintf(stderr, "half: %llx\n", is.bits);
    for (size_t i = 0; i < n; i++) values[i] = -0.5 * x[i * dim] * x[i * dim];
    return 0;
}
const unsigned gess_plugin_abi = GESS_ABI;
int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data, (void)message, (void)size;
    density->dim = 1;
    density->logp = logp;
    return 0;
}
END
cc -O2 -ffast-math -fPIC -shared -I "$source/include" -o small.so small.c
for threads in 1 2; do
    "$gess" sample ./small.so --chains 8 --warmup 5 --draws 5 --threads $threads -q --overwrite -o small 2> err
    grep -q '^half: 8000000000000$' err || { echo "FAILED: -ffast-math of a model reaches the sampler: $(cat err)"; exit 1; }
done

echo "$cases models refused"
