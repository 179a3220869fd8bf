#!/bin/sh
# Real readers of the exports: ArviZ, emcee and pandas in Python, posterior in R. They must get the
# figures that `gess summary` prints.
#   readers.sh GESS SOURCE_FOLDER VENV
# Makes the virtual environment VENV where it is not there yet (needs python3-venv and a way to PyPI).
# R is tried where Rscript and the package posterior are installed.
set -eu
gess=$1
source=$2
venv=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! cmp -s "$source/tests/readers/requirements.txt" "$venv/requirements.txt"; then
    echo "making $venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" -q --disable-pip-version-check install -r "$source/tests/readers/requirements.txt"
    cp "$source/tests/readers/requirements.txt" "$venv/requirements.txt"
fi

cd "$folder"
cc -shared -fPIC -I "$source/include" -o named.so "$source/tests/readers/named.c"
"$gess" sample german-credit --chains 10 --draws 300 --thin 2 --max-warmup-evals 30000 --seed 7 -q -o plain
"$gess" sample ./named.so --chains 12 --draws 200 --warmup 50 --save-warmup --seed 8 -q -o named
for run in plain named; do
    "$gess" summary $run --json > $run/figures.json
    for format in csv netcdf emcee; do "$gess" export $run --to $format; done
done
"$venv/bin/python" "$source/tests/readers/check.py" plain named

if ! command -v Rscript > /dev/null; then
    echo "R is not installed: its part is left out"
elif ! Rscript -e 'library(posterior); library(jsonlite)' > /dev/null 2>&1; then
    echo "R has no packages posterior and jsonlite (Debian: r-cran-posterior r-cran-jsonlite): its part is left out"
else
    Rscript "$source/tests/readers/check.R" plain named
fi
