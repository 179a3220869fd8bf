#!/bin/sh
# `gess check`: finds one fault each in densities that have one, and none in those that have none.
#   check.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/faults/support.sh
. "$2/tests/faults/support.sh"

# finds NAME PATTERN FLAG...: model.c with these flags has a fault that is described like this
finds()
{
    what=$1
    pattern=$2
    shift 2
    build "$what" "$@"
    try 2 "$gess" check "./$what.so" --starts 40 --max-time 3s
    tr '\n' ' ' < out | grep -qE -e "$pattern" || fail "$what: no finding '$pattern'"
    grep -q '^fault' out || fail "$what: no fault"
}

finds random 'fault \(again\) .*not a function of its point.*echo .* gess eval ./random.so' '-DVALUE=NORMAL + 1e-3 * call'
finds batch 'fault \(batches\) .*depends on the other points of the call' '-DVALUE=NORMAL + (i > 0 ? 0.5 : 0)'
finds last 'fault \((batches|memory)\)' '-DAFTER=if (n > 1) values[n - 1] = values[0]'
finds static 'fault \(threads\) .*not safe for threads' \
    '-DBEFORE=static double kept[4096]; for (size_t j = 0; j < n * dim; j++) kept[j] = points[j]; for (volatile int j = 0; j < 2000; j++) { } points = kept'
finds reads 'fault \(memory\) .*reads behind the points.*x\[2\] of a call with 1 point of 2 numbers' '-DVALUE=NORMAL + 1e-300 * (points[n * dim] > 1)'
finds front 'fault \(memory\) .*reads in front of the points.*x\[-1\]' '-DVALUE=NORMAL + 1e-300 * (points[-1] > 1)'
finds writes 'fault \(memory\) .*writes behind its values: logp\[1\]' '-DAFTER=values[n] = 0'
finds input 'fault \(memory\) .*writes to the points' '-DAFTER=((double *)(size_t)points)[0] += 0'
finds unwritten 'fault \(.*\)' '-DAFTER=(void)0' '-DVALUE=(i == 0 ? NORMAL : values[i])'
finds nan 'fault \(starts\) .*NaN at .*no chain can start|None of' -DVALUE=NAN
finds plus 'fault \(starts\) .*\+infinity at' '-DVALUE=x[0] > 0 ? INFINITY : NORMAL'
finds crash 'fault \(starts\) .*crashed with signal 6.*The first point of the call: echo' '-DBEFORE=if (points[0] > 0.5) abort()'
finds exits 'fault \(starts\) .*ended the process with exit status 0' '-DBEFORE=if (points[0] > 0.5) _exit(0)'
finds endless 'fault \(starts\) .*did not come back within 3 s' '-DBEFORE=if (points[0] > 0.5) for (;;) pause()'
finds error 'fault \(starts\) .*returned the error 1' '-DBEFORE=if (points[0] > 0.5) return 1'
finds slope 'fault \(gradient\) .*gradient with respect to beta is .*differences of the log density give' \
    '-DGRADIENT={ out[0] = -(x[0] - shift); out[1] = -x[1] * 1.01; }'
finds beyond 'fault \(bounds\) .*crashed with signal 6.*outside its bounds' '-DLOWER=-1' '-DBEFORE=if (points[0] < -1) abort()'
finds circle 'fault \(bounds\) .*alpha is periodic' -DLOWER=-1 -DUPPER=2 -DPERIODIC=1
finds derived 'fault \(derived\) .*sum is not a function of its point' '-DDERIVE=x[0] + x[1] + ++calls'
finds blob 'fault \(blobs\) .*size is not a function' '-DBLOB=x[0] + ++calls'

# a NaN here and there, other bits: warnings, and no fault
build some '-DVALUE=x[0] > 0.5 ? NAN : NORMAL'
try 0 "$gess" check ./some.so --starts 40
grep -q '^warning (starts)' out || fail "no warning of NaN"
build bits '-DVALUE=NORMAL * (1 + 1e-13 * (double)i)'
try 0 "$gess" check ./bits.so --starts 40
grep -q '^warning (batches)' out || fail "no warning of other bits"
# a model that cannot be opened, or crashes there
build open -DOPEN='abort()'
try 2 "$gess" check ./open.so
says 'crashed with signal 6'
try 2 "$gess" check ./missing.so
try 1 "$gess" check
# what has no fault, and JSON
build good '-DGRADIENT={ out[0] = -(x[0] - shift); out[1] = -x[1]; }' '-DDERIVE=x[0] + x[1]' '-DBLOB=x[0]' -DLOWER=-3
try 0 "$gess" check ./good.so --json
grep -q '"pass": true' out || fail "the good model does not pass"
try 2 "$gess" check ./batch.so --json
grep -q '"severity": "fault"' out || fail "no fault in JSON"
for model in funnel mixture wishart:dim=10 rats eight-schools seeds; do
    try 0 "$gess" check $model --starts 30
    grep -q 'nothing wrong was found' out || fail "$model: a finding"
done
# the template: its Makefile builds it with sanitizers, which find what is hidden in memory of the model's own
if command -v make > make.txt; then
    try 0 "$gess" new line
    try 0 make -C line
    try 0 "$gess" check ./line/line.so --data line/data.csv
    grep -q 'nothing wrong was found' out || fail "the template: a finding"
    [ -e line/line-sanitized.so ] || fail "no build with sanitizers"
    sed -i 's/double likelihood = /(void)((const volatile double *)data)[3]; &/' line/line.c
    rm -f line/*.so
    try 0 make -C line
    try 2 "$gess" check ./line/line.so --data line/data.csv
    grep -q 'sanitizers of the compiler find a mistake: .*heap-buffer-overflow' out || fail "the sanitizers find nothing"
fi
# memory of the model's own, by valgrind
if command -v valgrind > valgrind.txt; then
    build own '-DBEFORE=double *own = malloc(8)' '-DVALUE=NORMAL + 1e-300 * (own[1] > 1)' '-DAFTER=free(own)'
    try 2 "$gess" check ./own.so
    grep -q 'valgrind finds a mistake with memory: Invalid read' out || fail "valgrind finds nothing"
fi
echo "faults are found and explained, good models pass"
