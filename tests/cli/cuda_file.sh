#!/bin/sh
# Models in CUDA source files on the processor: what they declare, their data, their draws, and what is said of mistakes.
#   cuda_file.sh GESS
set -u
. "$(dirname "$0")/../command.sh"
"$gess" new line --lang cuda >/dev/null || fail 'gess new'

# the density, the names, the derived quantity; with a slash or without, from another folder, and with a title
cd line || exit 1
[ "$(echo 1,1,0.5 | "$gess" eval line.cu --data data.csv | tail -1)" = 1.0223923334386826 ] || fail 'another value'
cd ..
expect 0 '' "$gess" sample "$PWD/line/line.cu" --data line/data.csv --draws 20 --chains 16 --quiet
[ -f gess-runs/line-1/draws.gess ] || fail 'the run is not named after the file'
"$gess" summary gess-runs/line-1 --csv >table.csv
grep -q '^"*mean_at_20"*,' table.csv || fail "no derived quantity: $(cat table.csv)"
expect 0 '' "$gess" resume gess-runs/line-1 --draws 30 --quiet
mkdir folder && mv line 'folder/a line'
expect 2 'cannot open the model' "$gess" resume gess-runs/line-1 --draws 40 --quiet
expect 0 'nothing wrong was found' "$gess" check 'folder/a line/line.cu' --data 'folder/a line/data.csv'
mv 'folder/a line' line

# a density with numbered parameters, as many as there are rows, bounds, and a file that it includes
cat >groups.cu <<'END'
// gess: data
// gess: parameter mu
	//gess:	parameter	tau lower=0 upper=1e3
// gess: parameter theta[rows]
// gess: parameter beta[columns]
// gess: parameter angle[2] lower=-3 upper=3 periodic
// gess: derived twice[rows]
#include <cmath>
#include <gess/gess_cuda.h>
#include "line/half.cuh"
__constant__ double unit = 1.0;
__device__ __forceinline__ double square(double x) { return unit * x * x; }
__device__ double logp(size_t dim, const double *x, const gess_data *data)
{
    double sum = square(x[0]) + x[1];
    for (size_t i = 2; i < dim - 2; i++) sum += square(x[i]);
    return -HALF * sum + gess_log(data->values[data->rows * data->columns - 1]) + 0.0 * std::lgamma(x[1]);
}
__device__ void derived(size_t dim, const double *x, const gess_data *data, double *out)
{
    for (size_t i = 0; i < data->rows; i++) out[i] = 2.0 * x[2 + i];
}
END
echo '#define HALF 0.5' >line/half.cuh
printf 'a,b\n1,2\n3,1\n' >two.csv
expect 0 '' "$gess" sample groups.cu --data two.csv --draws 4 --chains 32 --warmup 10 --quiet
"$gess" summary gess-runs/groups-1 --csv --all | cut -d, -f1 | tr -d '"' | tr '\n' ' ' >names
[ "$(cat names)" = 'name mu tau theta[1] theta[2] beta[1] beta[2] angle[1] angle[2] twice[1] twice[2] lp__ ' ] ||
    [ "$(cut -d' ' -f2- names)" = 'mu tau theta[1] theta[2] beta[1] beta[2] angle[1] angle[2] twice[1] twice[2] lp__ ' ] ||
    fail "other names: $(cat names)"
expect 2 'groups.cu needs a data file; give it with --data FILE' "$gess" eval groups.cu

# it is code: a config.json from elsewhere that names it is not enough; its hash is kept, and another density is noticed
cat >mine.cu <<'END'
// gess: parameter a
#include <gess/gess_cuda.h>
__device__ double logp(size_t dim, const double *x, const gess_data *data) { return -0.5 * x[0] * x[0]; }
END
expect 0 '' "$gess" sample mine.cu --draws 10 --chains 16 --quiet -o mine
grep -q "\"source\": \"$(sha256sum mine.cu | cut -d ' ' -f 1)\"" mine/config.json || fail 'no hash of the source'
expect 1 'names the source file mine.cu, which is not in its folder' "$gess" sample --config mine/config.json -q -o other
expect 0 'the model is the source file mine.cu' "$gess" sample --config mine/config.json --trust-model -o other
sed -i 's/0\.5/0.7/' mine.cu
expect 2 'the density has changed since this run was stopped' "$gess" resume mine --draws 20 --quiet

# mistakes in the lines
mistake()
{
    printf '// nothing\n%s\n__device__ double logp(size_t dim, const double *x, const void *data) { return -x[0] * x[0]; }\n' \
        "$2" >wrong.cu
    expect 2 "$1" "$gess" eval wrong.cu
}
mistake 'wrong.cu declares no parameter' '// no lines'
mistake 'wrong.cu, line 2: `lowr=0` is not understood' '// gess: parameter a lowr=0'
mistake 'wrong.cu, line 2: `lower=x` is not understood' '// gess: parameter a lower=x'
mistake 'wrong.cu, line 2: which name?' '// gess: parameter'
mistake 'wrong.cu, line 2: how many are a[many]?' '// gess: parameter a[many]'
mistake 'wrong.cu, line 2: how many are a[0]?' '// gess: parameter a[0]'
mistake 'is not a name' '// gess: parameter a[2]b'
mistake 'wrong.cu, line 2: `parametr` is not understood' '// gess: parametr a'
mistake 'goes on with parameter, derived or data' '// gess:'
mistake 'wrong.cu, line 2: `2` is not understood' '// gess: data 2'
mistake 'wrong.cu, line 2: `lower=0` is not understood; write `// gess: derived' '// gess: derived a lower=0'
mistake 'lower' '// gess: parameter a lower=2 upper=1'

# mistakes in the data
mv line/data.csv all.csv
head -2 all.csv >line/data.csv
expect 2 'have 1 rows of 2 columns; it wants 3 rows or more of 2 columns' "$gess" eval line/line.cu --data line/data.csv
expect 2 'needs a data file; give it with --data FILE' "$gess" eval line/line.cu
expect 2 'cannot read --data nothing.csv' "$gess" eval line/line.cu --data nothing.csv

# mistakes in the code, with the file and the line; no compiler
printf '// gess: parameter a\n#include <gess/gess_cuda.h>\n\n__device__ double logp(size_t dim, const double *x, const gess_data *data)\n{\n    return wrong;\n}\n' >wrong.cu
expect 2 'wrong.cu:6:' "$gess" eval wrong.cu
expect 2 'cannot be compiled for the processor' "$gess" eval wrong.cu
printf '// gess: parameter a\n#include <gess/gess_cuda.h>\n' >wrong.cu
expect 2 'double logp(size_t dim, const double *x, const gess_data *data)' "$gess" eval wrong.cu
expect 2 'needs a C++ compiler' env CXX=/nowhere/c++ "$gess" eval groups.cu --data two.csv
expect 2 'cannot open the model nothing.cu: No such file or directory' "$gess" eval nothing.cu
mkdir folder.cu
expect 2 'cannot open the model folder.cu' "$gess" eval folder.cu
printf '// gess: parameter a\n#include <gess/gess_cuda.h>\n__device__ double logp(size_t dim, const double *x, const gess_data *data) { return x[0] > 1 ? INFINITY : -x[0] * x[0]; }\n' >infinite.cu
expect 2 '+infinity at ' "$gess" sample infinite.cu --chains 8 --draws 100 --quiet

# TMPDIR is where it is compiled, and nothing is left there
mkdir scratch
echo 1,1,1,1,1,1,1,1 >point.csv
expect 0 '' env TMPDIR="$PWD/scratch" "$gess" eval groups.cu --data two.csv --points point.csv
expect 2 '' env TMPDIR="$PWD/scratch" "$gess" eval wrong.cu
[ -z "$(ls scratch)" ] || fail "left behind: $(ls scratch)"
expect 5 'cannot make a folder in /nowhere' env TMPDIR=/nowhere "$gess" eval groups.cu --data two.csv
exit $failed
