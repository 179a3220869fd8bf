#!/bin/sh
# `gess diagnose` fails runs that are known to be bad and passes good ones; `gess summary` in all its forms.
#   diagnose.sh GESS SOURCE_FOLDER
set -u
gess=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail()
{
    echo "FAILED: $*"
    [ -f out.txt ] && cat out.txt
    exit 1
}

# verdict STATUS CODE NAME ARGUMENTS OF SAMPLE…: the status of diagnose for the run, and a finding that it must print
verdict()
{
    want=$1 code=$2 name=$3
    shift 3
    "$gess" sample "$@" -o "$name" > said.txt 2> err.txt || fail "sample $*: $(cat err.txt)"
    "$gess" diagnose "$name" > out.txt
    [ $? -eq "$want" ] || fail "$name: diagnose does not end with $want"
    grep -q "$code" out.txt || fail "$name: no finding $code"
    if [ "$want" -eq 6 ]; then
        grep -q '^FAIL' out.txt || fail "$name: FAIL is not said"
        grep -q 'DO NOT TRUST.*gess diagnose' said.txt || fail "$name: sample does not end with it"
    else
        grep -q '^PASS' out.txt || fail "$name: PASS is not said"
        grep -q 'DO NOT TRUST' said.txt && fail "$name: sample ends with doubts"
    fi
    return 0
}

# ---- good runs ----
verdict 0 'PASS' gaussian gaussian
verdict 0 'PASS' credit german-credit
verdict 0 'PASS' mixture mixture --ensembles 4
verdict 0 'PASS' cancer breast-cancer
verdict 0 'r-hat-blind' pairs gaussian:dim=3 --schedule two-group --chains 40 --warmup 200 --draws 1000

# ---- heavy tails: no mean and no sd of a Cauchy, in any form; a t with 3 degrees of freedom keeps them ----
verdict 0 '^note (heavy-tails)' cauchy student-t:nu=1 --draws 200
grep -q 'The draws of x1, x2, x3, x4, x5 give no mean and no standard deviation' out.txt || fail "cauchy: the columns"
grep -q 'x1 and 4 more: the tails are too heavy for figures that are NA' said.txt || fail "cauchy: the end of sample"
"$gess" summary cauchy --vars 'x*' --csv > out.txt || fail "cauchy: summary"
for figure in mean sd mcse_mean mcse_sd mcse_series; do
    column=$(head -1 out.txt | tr , '\n' | grep -n "^$figure\$" | cut -d: -f1)
    [ "$(tail -n +2 out.txt | cut -d, -f"$column" | sort -u)" = NA ] || fail "cauchy: $figure"
done
for figure in q5 q50 q95 mcse_q5 mcse_q50 mcse_q95 tail_index tail_index_se; do
    column=$(head -1 out.txt | tr , '\n' | grep -n "^$figure\$" | cut -d: -f1)
    tail -n +2 out.txt | cut -d, -f"$column" | grep -q NA && fail "cauchy: $figure is NA"
done
[ "$(grep -c '"mean": null' cauchy/summary.json)" -eq 5 ] || fail "cauchy: summary.json has means"
[ "$(grep -c '"sd": null' cauchy/summary.json)" -eq 5 ] || fail "cauchy: summary.json has sds"
verdict 0 'PASS' t3 student-t
grep -q 'no standard deviation' out.txt && fail "t3: its sd exists"
grep -q '"sd": null' t3/summary.json && fail "t3: an sd is missing"

# ---- 20 draws ----
verdict 6 '^failure (draws)' few gaussian --draws 15

# ---- two separate modes: half of the chains start in each and stay there ----
awk -F, 'NR == 1 { head = ""; for (i = 1; i <= NF; i++) head = head (i > 1 ? "," : "") "x" i; print head }
    NR == 2 || NR == 3 { row = ""; for (i = 1; i <= NF; i++) row = row (i > 1 ? "," : "") 30 * $i; rows[NR] = row }
    END { for (i = 0; i < 20; i++) print rows[2 + i % 2] }' "$source/data/mixture_means.csv" > modes.csv
echo '{"nu": null, "mu": [0,0,0,0,0,0,0,0], "sigma": [[1,0,0,0,0,0,0,0],[0,1,0,0,0,0,0,0],[0,0,1,0,0,0,0,0],
[0,0,0,1,0,0,0,0],[0,0,0,0,1,0,0,0],[0,0,0,0,0,1,0,0],[0,0,0,0,0,0,1,0],[0,0,0,0,0,0,0,1]]}' > unit8.json
verdict 6 '^failure (modes)' modes mixture:spread=60 --schedule fixed --approx unit8.json --chains 20 --warmup 0 --draws 300 --init modes.csv
grep -q '10 around .* and 10 around' out.txt || fail "modes: how many chains are where"

# ---- a chain far out in a tail that a Gaussian does not reach ----
awk 'BEGIN { print "x1,x2,x3"; for (i = 0; i < 12; i++) print i / 10 - 0.5 "," 0.3 - i / 20 "," i % 3 - 1; }' > starts.csv
sed '6s/.*/400,400,400/' starts.csv > stuck.csv
echo '{"nu": null, "mu": [0,0,0], "sigma": [[1,0,0],[0,1,0],[0,0,1]]}' > unit.json
verdict 6 '^failure (stuck)' stuck student-t:dim=3 --kernel ess --schedule fixed --approx unit.json --chains 12 --warmup 0 \
    --draws 400 --init stuck.csv
grep -q 'chain 5 ' out.txt || fail "stuck: the chain is named"

# ---- sampling begins before the chains have converged, with a wrong T ----
verdict 6 '^failure (drift)' drift german-credit --warmup 5 --draws 100
grep -q '^failure (warm-up)' out.txt || fail "drift: warm-up ended too early"
grep -q '^warning (evaluations)' out.txt || fail "drift: the approximation is poor"

# ---- one chain starts in a narrow mode, and hardly another one enters it ----
cc -std=c17 -O2 -fPIC -shared -I "$source/include" -o spike.so "$source/tests/data/models/spike.c" -lm || fail "compiler"
awk 'BEGIN { srand(3); print "x1,x2"; for (i = 0; i < 16; i++) print i == 4 ? "0.703,0.698" : 4 * rand() - 2 "," 4 * rand() - 2 }' > spike.csv
echo '{"nu": null, "mu": [0,0], "sigma": [[1,0],[0,1]]}' > unit2.json
verdict 6 '^failure (lone-chain)' spike ./spike.so --schedule fixed --approx unit2.json --chains 16 --warmup 0 --draws 60 --seed 3 --init spike.csv
grep -q "hain 5 " out.txt && grep -q "alone reach" out.txt || fail "spike: the chain is named"

# ---- modes and basins of history.json ----
cp -r gaussian modes2
python3 - << 'END' || fail "modes2: history"
import json
history = json.load(open("modes2/history.json"))
history["modes"] = [{"centre": [x] * 10, "sd": [1] * 10, "weight": w, "error": 0.01, "chains": 60} for x, w in ((1, 0.25), (9, 0.75))]
history["exploration"] = {"route": "direct", "evals": 10, "spread": [[32, 32]], "basins": [
    {"centre": [x] * 10, "lp": -1.0, "starts": 32, "log_weight": 0.0, "weight": w, "error": 0.01, "fate": "kept"} for x, w in ((1, 0.25), (9, 0.75))]}
json.dump(history, open("modes2/history.json", "w"))
END
"$gess" diagnose modes2 > out.txt || fail "modes2 passes"
grep -q '0.750 ± 0.010 at x1 = 9' out.txt || fail "modes2: the modes are named"
grep -q 'r-hat-blind' out.txt && fail "modes2: a note on R-hat, though chains pass between the modes"
"$gess" diagnose modes2 --json | grep -q '"modes"' || fail "modes2: the modes are in the JSON"
sed -i 's/"kept"/"lost"/' modes2/history.json
"$gess" diagnose modes2 > out.txt
[ $? -eq 6 ] || fail "a basin that was lost"
grep -q '^failure (basin-lost)' out.txt || fail "a basin that was lost has its finding"

# ---- other options of diagnose ----
"$gess" diagnose few --json > verdict.json
[ $? -eq 6 ] || fail "diagnose --json ends with 6"
for key in pass level code text advice findings worst_rhat least_ess; do
    grep -q "\"$key\"" verdict.json || fail "diagnose --json has no $key"
done
rm few/history.json
"$gess" diagnose few > out.txt
[ $? -eq 6 ] || fail "without history.json it ends with 6 too"
grep -q 'history.json is missing' out.txt || fail "a missing history.json is told"
"$gess" diagnose nowhere 2> out.txt
[ $? -eq 5 ] || fail "diagnose of nothing ends with 5"
"$gess" diagnose 2> out.txt
[ $? -eq 1 ] || fail "diagnose without a run ends with 1"

# ---- summary: which R-hat, names, order, CSV ----
"$gess" summary mixture > out.txt
grep -q 'compares 4 independent ensembles' out.txt || fail "which R-hat was done"
grep -q 'r_hat drift_z$' out.txt || fail "the last figures of the table: $(head -1 out.txt)"
grep -q geweke out.txt && fail "geweke is for --all"
"$gess" summary credit > out.txt
{ grep -q 'R-hat of 8 groups of 8 chains' out.txt && grep -q 'halves of the 64 chains of one ensemble' out.txt && grep -q 'drift_z nested$' out.txt; } || fail "which R-hat was done"
"$gess" summary mixture --all > out.txt
for figure in geweke ess_coda tau mcse_sd mcse_q5 mcse_q50 mcse_q95 mcse_series r_hat_ensembles tail_index tail_index_se; do
    grep -q " $figure" out.txt || fail "summary --all has no $figure"
done
"$gess" summary mixture --csv --vars 'x[0-9],x?,lp__' > out.txt 2> err.txt
[ $? -eq 1 ] || fail "a pattern without a match ends with 1"
grep -q 'x\[0-9\]' err.txt || fail "it is named: $(cat err.txt)"
"$gess" summary mixture --csv --vars 'x?,lp__' > out.txt || fail "summary --csv --vars"
[ "$(cut -d, -f1 out.txt | tr '\n' ' ')" = 'name x1 x2 x3 x4 x5 x6 x7 x8 lp__ ' ] || fail "columns of --vars"
"$gess" summary mixture --csv > all.txt
grep '^x3,' all.txt > one.txt
"$gess" summary mixture --csv --vars x3 | grep '^x3,' | cmp - one.txt || fail "the same figures for one column only"
for threads in 1 3; do
    "$gess" summary mixture --csv --threads $threads | cmp - all.txt || fail "the same figures on $threads threads"
done
column=$(head -1 all.txt | tr , '\n' | grep -n '^r_hat$' | cut -d: -f1)
"$gess" summary mixture --csv --sort | tail -n +2 | cut -d, -f"$column" > order.txt
sort -gr order.txt | cmp - order.txt || fail "worst first"
"$gess" summary mixture --csv --json > out.txt 2>&1
[ $? -eq 1 ] || fail "--csv and --json together end with 1"
grep -q '"stop_rhat": [0-9]' credit/summary.json || fail "figures at the stop"

echo "good runs pass, bad ones do not"
