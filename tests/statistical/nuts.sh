#!/bin/sh
# The kernel nuts against NumPyro's: means, standard deviations, gradient evaluations for each effective draw.
#   nuts.sh GESS SOURCE_FOLDER VENV
# Makes the virtual environment VENV where it is not there yet (needs python3-venv and a way to PyPI).
set -eu
gess=$1
source=$2
venv=$3
wanted=$source/tests/statistical/nuts_requirements.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! cmp -s "$wanted" "$venv/requirements.txt"; then
    echo "making $venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" -q --disable-pip-version-check install -r "$wanted"
    cp "$wanted" "$venv/requirements.txt"
fi
cd "$folder"
for model in german-credit stochastic-volatility; do
    "$gess" sample $model --kernel nuts --chains 4 --warmup 1000 --draws 2500 --seed 11 -q -o $model
    "$gess" summary $model --json > $model.json
done
"$venv/bin/python" "$source/tests/statistical/nuts.py" "$gess" "$source"
