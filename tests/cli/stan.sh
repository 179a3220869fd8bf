#!/bin/sh
# Stan models through BridgeStan's interface: a model written in C that has it (tests/stan/fake.c). Names, starts,
# threads, messages, data, exports; the same draws for any threads. tests/stan/stan.sh does it with real models.
#   stan.sh GESS SOURCE_FOLDER
source=$2
# shellcheck source=tests/command.sh
. "$source/tests/command.sh"

build() # build NAME OPTION...
{
    name=$1
    shift
    cc -shared -fPIC -O1 "$@" -o "$name" "$source/tests/stan/fake.c" -lm || exit 1
}
build fake_model.so
build serial_model.so -DTHREADS='"false"'
build gq_model.so -DGQ_FAILS
build old_model.so -DNO_RNG
build silent_model.so -DNO_PRINT
build tape_model.so -DTAPE
build nan_model.so -DGQ_NAN
echo 'int bs_construct(void) { return 0; }' > one.c
cc -shared -fPIC -o one_model.so one.c || exit 1
echo '{"y": [0.5, -1, 2]}' > data.json
echo '{"x": [0.5, -1, 2]}' > wrong.json

# names, in Stan's order; nothing of the unconstrained space
run='--data data.json --seed 5 --chains 32 --warmup 100 --draws 200'
expect 0 'read 3 observations' "$gess" sample ./fake_model.so $run --threads 2 -o two
"$gess" summary two --json > two.json
python3 - <<'END' || fail "the summary is not that of the model"
import json
rows = {row["name"]: row for row in json.load(open("two.json"))["parameters"]}
wanted = ["mu", "sigma", "z[1,1]", "z[2,1]", "z[1,2]", "z[2,2]", "total", "log_lik[1]", "log_lik[2]", "log_lik[3]",
          "y_rep", "lp__"]
assert list(rows) == wanted, list(rows)
for name, mean, sd in (("z[2,1]", 0, 1), ("total", 0, 2)):
    row = rows[name]
    assert abs(row["mean"] - mean) < 6 * row["mcse_mean"], row
    assert abs(row["sd"] - sd) < 0.1 * sd, row
assert 0.7 < rows["sigma"]["q50"] < 1.35, rows["sigma"]
assert rows["mu"]["mean"] < 0 and rows["y_rep"]["ess_bulk"] > 1000, rows["mu"]
END
expect 0 'z[1,2]' "$gess" summary two --vars 'z*'
expect 1 'no parameter' "$gess" summary two --vars '*unconstrained*'

# what the model says: print, reject; counted in log.txt
expect 0 'model: as data' "$gess" sample ./fake_model.so $run --threads 1 -q -o one
expect 0 'model: a point was rejected: Exception: mu is too large' "$gess" sample ./fake_model.so $run -q -o again
grep -q 'the model: points rejected: [1-9]' one/log.txt || fail "log.txt does not count the rejected points"

# the same draws for any threads, with and without STAN_THREADS, in processes, stopped and resumed
cmp two/draws.gess one/draws.gess || fail "two threads give other draws"
expect 0 'without STAN_THREADS=true' "$gess" sample ./serial_model.so $run --threads 3 -o serial
"$gess" sample ./serial_model.so $run --threads 3 --isolate -q -o isolated 2> isolated.txt || fail "--isolate failed"
grep -q 'STAN_THREADS' isolated.txt && fail "--isolate does not need STAN_THREADS"
"$gess" sample ./fake_model.so --data data.json --seed 5 --chains 32 --warmup 100 --draws 80 -q -o resumed 2> /dev/null
"$gess" resume resumed --draws 200 -q 2> /dev/null
for other in serial isolated resumed; do
    cmp two/draws.gess $other/draws.gess || fail "$other: other draws"
done

# a library without bs_set_print_callback(): the same draws; what it prints is its own business
expect 0 'read 3 observations' "$gess" sample ./silent_model.so $run -q -o silent
cmp two/draws.gess silent/draws.gess || fail "silent: other draws"

# starts are uniform on (-2, 2)
FAKE_STARTS=32 "$gess" sample ./fake_model.so --data data.json --chains 32 --warmup 20 --draws 5 -q -o starts 2> starts.txt
awk '/starts from/ { found = 1; exit !($4 >= -2 && $4 < -1.8 && $6 <= 2 && $6 > 1.8) } END { if (!found) exit 1 }' \
    starts.txt || fail "starts are not uniform on (-2, 2): $(cat starts.txt)"

# nuts takes its gradient; the other commands take the model
expect 0 '' "$gess" sample ./fake_model.so --data data.json --kernel nuts --chains 4 --warmup 200 --draws 300 -q -o nuts
echo '0.5,0.25,0,0,0,0' > points.csv
expect 0 '-5.66988119922803' "$gess" eval ./fake_model.so --data data.json --points points.csv
expect 0 '' "$gess" sample ./fake_model.so --data data.json --init-from two --chains 8 --warmup 20 --draws 5 -q -o next
"$gess" report two > /dev/null 2> report.txt || fail "no report: $(cat report.txt)"
grep -q 'unconstrained' two/report.html && fail "the report shows unconstrained parameters"

# generated quantities that fail are NaN, and said to be; parameters stay
expect 0 'the generated quantities of a draw failed: Exception: y_rep failed' \
    "$gess" sample ./gq_model.so $run -q -o gq
"$gess" export gq --to csv > /dev/null
awk -F, '!/^#/ && ++n > 1 && $2 < -1 { if ($3 == "NaN" || $12 != "NaN") exit 1; seen = 1 } END { exit !seen }' \
    gq/csv/chain-1.csv || fail "generated quantities that failed are not NaN"

# generated quantities that are NaN, at all draws or at some, are waited for by no one, and do not fail the verdict
expect 0 '' "$gess" sample ./nan_model.so --data data.json --seed 5 --max-evals 2e5 -q -o nan
grep -q 'targets met' nan/log.txt || fail "the targets are not met: $(tail -n 3 nan/log.txt)"
expect 0 'PASS' "$gess" diagnose nan
expect 0 'log_lik[1] has draws that are not finite (2 of ' "$gess" diagnose nan

# a thread asks for a gradient before anything else, because some functions of Stan need what that makes
expect 0 '' "$gess" sample ./tape_model.so $run --threads 3 -q -o tape
cmp two/draws.gess tape/draws.gess || fail "tape: other draws"

# exports: CmdStan's names
"$gess" export two --to csv > /dev/null
grep -q '^lp__,mu,sigma,z.1.1,z.2.1,z.1.2,z.2.2,total,log_lik.1,log_lik.2,log_lik.3,y_rep$' two/csv/chain-1.csv ||
    fail "the CSV has other names"

# data that are wrong, or missing: Stan's own words
expect 2 'variable does not exist; processing stage=data initialization; variable name=y' \
    "$gess" sample ./fake_model.so --data wrong.json -o bad
expect 2 'with no data: Exception: variable does not exist' "$gess" sample ./fake_model.so -o bad
expect 2 'cannot read --data none.json' "$gess" sample ./fake_model.so --data none.json -o bad
expect 2 'cannot read --data .: it is a folder' "$gess" sample ./fake_model.so --data . -o bad
expect 1 'a file needs a slash: ./fake_model.so' "$gess" sample fake_model.so --data data.json -o bad
expect 2 'has no symbol bs_rng_construct; build it with BridgeStan 2' "$gess" sample ./old_model.so -o bad
expect 2 'built by BridgeStan 1' "$gess" sample ./one_model.so -o bad
[ ! -e bad ] || fail "a model that did not open left a folder"
exit $failed
