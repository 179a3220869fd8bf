#!/bin/sh
# Real Stan models, sampled by gess through BridgeStan's interface and by Stan's own NUTS: every mean and standard
# deviation within 4.5 combined standard errors, evaluations beside gradients, the cost of the route over a loop of
# bs_log_density(), and ArviZ's loo.
#   stan.sh GESS SOURCE_FOLDER BUILD_FOLDER
# Builds the models in BUILD_FOLDER/stan (build.sh) and takes ArviZ from BUILD_FOLDER/venv (tests/readers/readers.sh) where
# that is there.
set -eu
gess=$1
source=$2
build=$3
sh "$source/tests/stan/build.sh" "$source" "$build/stan" eight_schools eight_schools_centred gp hmm hierarchical
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for name in eight_schools gp hmm hierarchical; do
    for chain in 1 2 3 4; do
        "$build/stan/${name}_reference" "$source/tests/stan/models/$name.json" 11 $chain 1000 10000 0.95 \
            $name-$chain.csv > $name-$chain.txt
    done
    "$gess" summary $name-1.csv $name-2.csv $name-3.csv $name-4.csv --json > $name-reference.json
done
for name in eight_schools eight_schools_centred gp hmm hierarchical; do
    "$gess" sample "$build/stan/${name}_model.so" --data "$source/tests/stan/models/$name.json" --seed 3 \
        --target-ess 20000 -q -o $name 2> $name.err || { cat $name.err; exit 1; }
    "$gess" summary $name --json > $name.json
    "$gess" diagnose $name > $name.verdict || true
done
cc -O2 -I "$source/include" -o overhead "$source/tests/stan/overhead.c" -L "$build" -lgess -Wl,-rpath,"$build" -ldl
for name in eight_schools gp hmm hierarchical; do
    ./overhead "$build/stan/${name}_model.so" "$source/tests/stan/models/$name.json" > $name.overhead
done
python3 "$source/tests/stan/check.py"
if "$build/venv/bin/python" -c 'import arviz' 2> /dev/null; then
    "$gess" export eight_schools --to netcdf > /dev/null
    "$build/venv/bin/python" - <<'END'
import arviz
data = arviz.from_netcdf("eight_schools/posterior.nc")
assert data.log_likelihood["log_lik"].shape[2] == 8, data.log_likelihood
loo, waic = arviz.loo(data), arviz.waic(data)
print(f"eight schools: elpd {loo.elpd_loo:.2f} by loo, {waic.elpd_waic:.2f} by waic")
assert -32.5 < loo.elpd_loo < -29.5 and -32.5 < waic.elpd_waic < -29.5
END
fi
