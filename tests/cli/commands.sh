#!/bin/sh
# The commands as a person or a script uses them: output, messages and exit statuses.
#   commands.sh GESS SOURCE_FOLDER
set -u
source=$2
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"

# help and versions
expect 0 'gess sample' "$gess"
expect 0 'gess summary' "$gess" --help
expect 0 'BLAS: none' "$gess" --version
expect 0 'Kernels:' "$gess" sample --help
expect 0 '(default: auto)' "$gess" sample --help
for command in models eval sample summary diagnose fit bench manual; do
    expect 0 'Usage: gess' "$gess" $command --help
done
expect 1 'no command `smaple`' "$gess" smaple
expect 0 'german-credit' "$gess" models

# eval: known values (funnel at 0 and at a point), optional header, order, points outside the support
expect 0 '-10.287' sh -c "printf '0,0,0,0,0,0,0,0,0,0\n' | '$gess' eval funnel"
printf 'v,a,b,c,d,e,f,g,h,i\n0,0,0,0,0,0,0,0,0,0\n1,1,1,1,1,1,1,1,1,1\n' > points.csv
"$gess" eval funnel --points points.csv > values.csv || fail "eval"
[ "$(wc -l < values.csv)" -eq 3 ] || fail "eval prints a header and a line per point"
"$gess" eval funnel --points points.csv --gradient | head -1 | grep -q '^lp__,d_v,d_x1' || fail "gradient header"
printf '%s\n' "-1$(printf ',0%.0s' $(seq 50))" > sv.csv
expect 0 '-inf' "$gess" eval stochastic-volatility --points sv.csv
expect 1 'has 10 parameters' sh -c "printf '0,0\n' | '$gess' eval funnel"
expect 1 'not a number' sh -c "printf '0,0\n1,x\n' | '$gess' eval banana"
expect 5 'no-such-file.csv' "$gess" eval funnel --points no-such-file.csv
expect 1 'unknown model' "$gess" eval nosuchmodel
expect 1 'which model?' "$gess" eval

# fit: a Gaussian cross with known moments, and sampling with the result as --approx
printf '1,0\n-1,0\n0,2\n0,-2\n1,2\n-1,-2\n' > cross.csv
expect 0 '"nu"' "$gess" fit cross.csv --json
expect 0 'sqrt(sigma_ii)' "$gess" fit cross.csv
expect 1 'at least two' sh -c "printf '1,2\n' > one.csv; '$gess' fit one.csv"
expect 1 'not a finite number' sh -c "printf '1,2\nnan,1\n' > nan.csv; '$gess' fit nan.csv"
"$gess" fit cross.csv --json > t.json
expect 0 'lp__' "$gess" sample banana --schedule fixed --approx t.json --chains 8 --warmup 10 --draws 10 -o fixed
expect 1 '"mu" must be a list of 10' "$gess" sample funnel --schedule fixed --approx t.json -o fixed2
[ ! -e fixed2 ] || fail "a refused run leaves no folder"

# sample: the run directory, the summary and refusals
expect 0 'Draws and summary are in run' "$gess" sample mixture --chains 40 --draws 50 --max-warmup-evals 20000 -o run
for file in config.json draws.gess summary.json log.txt; do
    [ -s run/$file ] || fail "run/$file is missing"
done
expect 1 'holds a run already' "$gess" sample mixture --chains 40 --draws 50 -o run
expect 0 'Draws' "$gess" sample mixture --chains 40 --warmup 20 --draws 50 --overwrite -o run
mkdir other && touch other/thing
expect 1 'is not a run directory' "$gess" sample mixture --overwrite -o other
expect 1 'not a whole number' "$gess" sample mixture --chains many -o bad
expect 1 'out of range' "$gess" sample mixture --chains 0 -o bad
expect 1 'no such kernel' "$gess" sample mixture --kernel fast -o bad
expect 1 'no such schedule' "$gess" sample mixture --schedule slow -o bad
expect 1 'the kernel mh has none' "$gess" sample mixture --kernel mh --schedule pooled -o bad
expect 1 'the kernel gess needs one' "$gess" sample mixture --schedule tempering -o bad
expect 1 'at least 2 chains in each of 3' "$gess" sample mixture --kernel mh --schedule tempering --chains 5 --ensembles 3 -o bad
expect 1 'must be geometric or tuned' "$gess" sample mixture --kernel mh --schedule tempering --ladder steep -o bad
expect 1 'out of range' "$gess" sample mixture --kernel mh --schedule tempering --hottest 0.5 -o bad
expect 1 'at least 4 chains' "$gess" sample mixture --schedule two-group --chains 3 -o bad
expect 1 'must be auto or none' "$gess" sample mixture --transform some -o bad
expect 1 'not a time' "$gess" sample mixture --max-time soon -o bad
expect 1 'takes no data file' "$gess" sample mixture --data points.csv -o bad
expect 1 'give one model only' "$gess" sample mixture funnel -o bad
expect 1 'has no parameter' "$gess" sample wishart:dims=3 -o bad
[ ! -e bad ] || fail "a refused run leaves no folder"

# summary: table, JSON with every contracted key, CSV files of other programs
expect 0 'ess_bulk' "$gess" summary run
"$gess" summary run --json > summary.json || fail "summary --json"
for key in parameters name mean sd mcse_mean q5 q50 q95 ess_bulk ess_tail ess_coda r_hat geweke evals evals_sampling \
    evals_speculative seconds seconds_sampling seconds_learning chains draws nans; do
    grep -q "\"$key\"" summary.json || fail "summary --json has no $key"
done
[ "$(grep '"name"' summary.json | tail -1 | tr -d ' ,')" = '"name":"lp__"' ] || fail "lp__ comes last"
printf 'a,b\n1,2\n2,1\n3,5\n2,2\n1,1\n' > chain1.csv
printf 'a,b\n1,3\n2,1\n2,5\n3,2\n1,0\n' > chain2.csv
expect 0 '2 chains of 5 draws' "$gess" summary chain1.csv chain2.csv
printf 'a,c\n1,3\n' > chain3.csv
expect 1 'all chains must have the same' "$gess" summary chain1.csv chain3.csv
expect 1 'has no header' sh -c "printf '1,2\n2,3\n' > bare.csv; '$gess' summary bare.csv"
expect 5 'no-such-run' "$gess" summary no-such-run
expect 1 'which draws?' "$gess" summary
printf 'garbage' > run/draws.gess
expect 5 'not a gess draws file' "$gess" summary run

# starts from a file, by name and in any order
printf 'x2,x1\n1,2\n3,4\n5,6\n7,8\n' > init.csv
expect 0 'Draws' "$gess" sample banana --init init.csv --chains 4 --warmup 5 --draws 5 -o init
expect 1 'there is a chain 5' "$gess" sample banana --init init.csv --chains 5 --draws 5 -o init5
expect 1 'names 1 of the model' sh -c "printf 'x1,foo\n1,2\n' > half.csv; '$gess' sample banana --init half.csv --chains 2 -o init6"

# a full disk and a closed pipe are not success
if [ -e /dev/full ]; then
    "$gess" models > /dev/full 2> full.txt
    [ $? -eq 5 ] || fail "models into /dev/full must end with 5"
    grep -q 'cannot write' full.txt || fail "models into /dev/full must say so"
fi

# signals and time: what was drawn is kept, status 3
expect 3 'max-time is over' "$gess" sample funnel --draws 1e9 --warmup 10 --max-time 2s -o timed
expect 0 'chains of' "$gess" summary timed
"$gess" sample funnel --draws 1e9 --warmup 10 -q -o stopped 2> stopped.txt &
writer=$!
for _ in $(seq 600); do # until there are draws
    sleep 0.1
    [ -f stopped/draws.gess ] && [ "$(wc -c < stopped/draws.gess)" -gt 100000 ] && break
done
kill -INT $writer
wait $writer
[ $? -eq 3 ] || fail "an interrupted run must end with 3"
expect 0 'chains of' "$gess" summary stopped

[ $failed -eq 0 ] && echo "all commands behave"
exit $failed
