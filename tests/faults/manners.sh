#!/bin/sh
# Densities that change what is not theirs: the points that they get, how their thread rounds, its signals, the working
# directory. Draws are those of the density that does not; where they cannot be, there is a message.
#   manners.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"
options='--chains 8 --warmup 100 --draws 1000 --checkpoint-every 20 --block 3'

build plain '-DDERIVE=x[0] + x[1]'
# shellcheck disable=SC2086
try 0 "$gess" sample ./plain.so $options -q -o whole

# same NAME FLAG...: a density that does something else beside, on one thread and on three
same()
{
    name=$1
    shift
    build "$name" '-DDERIVE=x[0] + x[1]' "$@"
    for threads in 1 3; do
        # shellcheck disable=SC2086
        try 0 "$gess" sample "./$name.so" $options --threads $threads -q -o "$name-$threads"
        cmp whole/draws.gess "$name-$threads/draws.gess" || fail "$name: other draws with --threads $threads"
    done
}
same points '-DAFTER=for (size_t k = 0; k < n * dim; k++) ((double *)(size_t)points)[k] = k % 2 ? NAN : 7.0'
same rounding -include fenv.h '-DAFTER=if (points[0] > 1.0) fesetround(FE_UPWARD)'
same cancelled '-DAFTER=if (points[0] > 1.0) pthread_cancel(pthread_self())'
same blocked '-DAFTER=sigset_t all; sigfillset(&all); pthread_sigmask(SIG_BLOCK, &all, NULL)'
same locale -include locale.h '-DAFTER=setlocale(LC_ALL, "de_DE.UTF-8")'
case $(uname -m) in
x86_64)
    same denormal -include immintrin.h '-DAFTER=if (points[0] > 1.0) _mm_setcsr(_mm_getcsr() | 0x8040)'
    same trapping -D_GNU_SOURCE -include fenv.h '-DAFTER=if (points[0] > 1.0) feenableexcept(FE_DIVBYZERO | FE_INVALID)'
    ;;
esac
# derived quantities that write into their parameters
build derive '-DDERIVE=({ double sum = x[0] + x[1]; ((double *)(size_t)x)[0] = 7.0; sum; })'
# shellcheck disable=SC2086
try 0 "$gess" sample ./derive.so $options -q -o derive
cmp whole/draws.gess derive/draws.gess || fail "derived quantities that write into their parameters: other draws"

# ---- a pipe that nobody reads any more: a crash like others; of the command's own output, the usual end ----
build pipe '-DBEFORE=if (points[0] > 2.5) { int ends[2]; if (pipe(ends) == 0 && close(ends[0]) == 0 && write(ends[1], "x", 1) < 0) calls++; }'
# shellcheck disable=SC2086
try 2 "$gess" sample ./pipe.so $options -q -o pipe
says 'crashed with signal 13 .* while it was evaluating the point .* of chain [1-8]; to see it alone: '
awk 'BEGIN { for (i = 0; i < 5000; i++) print i / 1000 "," i }' > many.csv
"$gess" eval ./plain.so --points many.csv 2> err | :
[ ! -s err ] || ! grep -q 'density' err || fail "a reader that went away is taken for a crash"

# ---- the working directory ----
folder_now=$(pwd)
build opened '-DOPEN=if (chdir("/") != 0) return 1'
build moved '-DBEFORE=if (points[0] > 2.5 && chdir("/") != 0) return 1'
# shellcheck disable=SC2086
try 0 "$gess" sample ./opened.so $options -q -o opened
# shellcheck disable=SC2086
try 0 "$gess" sample ./moved.so $options -q -o "$folder_now/moved"
for name in opened moved; do
    "$gess" export "$name" --to csv -o "$name-csv" > out 2> err || fail "$name: export"
done
# shellcheck disable=SC2086
try 5 "$gess" sample ./moved.so $options -q -o relative
says 'the working directory of this process was changed while the run in relative was under way.*give the whole path'
echo "points, rounding, signals, files and folders stay the sampler's"
