#!/bin/sh
# The benchmarks at their smallest size: they run, verify and print what they should. No time is judged here.
#   bench.sh GESS SOURCE_FOLDER
# The peers are tested if their virtual environment exists (`make peers`, or GESS_PEERS=FOLDER).
set -u
gess=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail()
{
    echo "FAILED: $*"
    failed=1
}

# number FILE KEY: the first value of a key in a file of JSON
number()
{
    sed -n "s/.*\"$2\": \([-+.0-9e]*\),\{0,1\}\$/\1/p" "$1" | head -1
}

# within VALUE LOW HIGH WHAT
within()
{
    awk -v v="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(v != "" && v + 0 >= l && v + 0 <= h) }' ||
        fail "$4: $1 is not within $2 and $3"
}

"$gess" bench efficiency --quick --models gaussian --evals 20000 --samplers gess --json > efficiency.json || fail efficiency
within "$(number efficiency.json ess_per_eval)" 0.3 1.2 'ESS per evaluation on a Gaussian'
within "$(number efficiency.json r_hat)" 0.99 1.05 'R-hat on a Gaussian'
within "$(number efficiency.json evals_sampling)" 19000 21000 'evaluations of sampling'
# warm-up works for the draws that the evaluations buy, not for the pilot, for which a tenth of it would do
"$gess" bench efficiency --quick --models funnel --evals 200000 --samplers gess --json > funnel.json || fail efficiency
within "$(number funnel.json ess_per_eval)" 0.3 1.1 'ESS per evaluation on the funnel'
"$gess" bench efficiency --quick --evals 5000 --samplers gess --set schedule=two-group,chains=20 > two.txt || fail two-group
grep -q '^  mixture  *gess .* 20$' two.txt || fail "settings: $(cat two.txt)"

"$gess" bench utilisation --quick --json > utilisation.json || fail utilisation
[ "$(grep -c '"ratio"' utilisation.json)" -eq 3 ] || fail "utilisation: $(cat utilisation.json)"
sed -n '/"few"/,/}/p' utilisation.json > few.json
within "$(number few.json ratio)" 0.1 0.9 'four chains on 64 threads, with speculation against without'
within "$(number few.json evals_per_update)" 3.5 7 'evaluations of its updates'

"$gess" bench cost --quick --models gaussian --samplers gess --json > cost.json || fail cost
within "$(number cost.json evals)" 2000 12000 'the cost of a Gaussian'
"$gess" bench cost --quick --models banana --samplers gess > /dev/null 2> none.txt
[ $? -eq 5 ] || fail 'cost without a reference'
grep -q 'gess bench reference --models banana' none.txt || fail "cost without a reference says: $(cat none.txt)"

"$gess" bench ranks --quick --json > ranks.json || fail ranks
[ "$(grep -c '"latency"' ranks.json)" -eq 4 ] || fail "ranks has four quick rows: $(cat ranks.json)"

"$gess" bench scaling --quick --evals 500 --json > scaling.json || fail scaling
[ "$(number scaling.json cells)" = 4 ] || fail 'scaling has four quick cells'
[ "$(number scaling.json paper_below_one)" = 3 ] || fail 'three of them are below 1 in the paper'

"$gess" bench reference --models gaussian:dim=3 --seeds 2 --evals 200000 --output . > made.txt || fail reference
[ "$(wc -l < gaussian-dim-3.csv)" -eq 6 ] || fail "reference: $(cat made.txt)"
within "$(sed -n '4s/,.*//p' gaussian-dim-3.csv)" -0.05 0.05 'a mean of the reference'
"$gess" bench reference --models funnel --seeds 2 --set transform=none,schedule=pooled --evals 20000 --output . > refused.txt || fail 'reference that is refused'
grep -q 'nothing is written' refused.txt || fail "a reference that has not converged: $(cat refused.txt)"
[ ! -e funnel.csv ] || fail 'a reference that has not converged was written'

for speed in "overhead --models funnel,wishart:dim=5" fit growth threads; do
    # shellcheck disable=SC2086
    "$gess" bench $speed --quick --json > speed.json || fail "$speed"
    within "$(number speed.json ratio)" 1e-6 1e12 "a figure of $speed"
    grep -q '"processor": ".' speed.json || fail "$speed does not name the machine"
done
"$gess" bench overhead --models funnel --quick | grep -q 'funnel, auto: share of a warm-up' || fail 'the share of warm-up'

"$gess" bench peers --quick --samplers gess --models mixture,gaussian --output . > peers.txt || fail "peers: $(cat peers.txt)"
within "$(awk '$1 == "gaussian" && $2 == "gess" { print $5 }' peers.txt)" 0.3 1.2 'ESS per evaluation among peers'
[ "$(grep -c '^"' peers.dat)" -eq 2 ] || fail "data of the plot: $(cat peers.dat)"
if command -v gnuplot > /dev/null; then
    grep -q '</svg>' peers.svg || fail 'no plot'
else
    grep -q 'gnuplot cannot be run' peers.txt || fail 'nothing is said of gnuplot'
fi

for bad in "--samplers nuts" "--seeds 0" "--evals x" "--set chains"; do
    # shellcheck disable=SC2086
    "$gess" bench efficiency --quick $bad > bad.txt 2>&1
    [ $? -eq 1 ] || fail "$bad is refused: $(cat bad.txt)"
done
GESS_PEERS=$folder "$gess" bench efficiency --quick --samplers emcee 2> missing.txt
[ $? -eq 5 ] || fail 'peers that are not there'
grep -q 'make peers' missing.txt || fail "peers that are not there: $(cat missing.txt)"

if [ -x "${GESS_PEERS:-$(dirname "$gess")/peers}/bin/python" ] && [ -e "$(dirname "$gess")/libgess.so" ]; then
    for peer in emcee zeus; do
        "$gess" bench efficiency --quick --models eight-schools:centred=0 --samplers $peer --json > peer.json ||
            fail "efficiency of $peer"
        within "$(number peer.json ess_per_eval)" 0.0005 0.1 "ESS per evaluation of $peer"
        within "$(number peer.json evals_warmup)" 45000 55000 "warm-up of $peer"
        "$gess" bench cost --quick --models gaussian:dim=2 --samplers $peer --json > peer.json || fail "cost of $peer"
        within "$(number peer.json both)" 0.002 0.5 "error of $peer"
    done
else
    echo 'the peers are not installed: their tests are skipped'
fi
exit $failed
