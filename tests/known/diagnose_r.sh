#!/bin/sh
# The stored answers of R are what R says now: runs make_diagnose.R and compares.
#   diagnose_r.sh SOURCE_FOLDER
set -eu
if ! Rscript -e 'stopifnot(packageVersion("posterior") == "1.4.0", packageVersion("coda") == "0.19.4")' > /dev/null 2>&1; then
    echo "R with posterior 1.4.0 and coda 0.19-4 is not here"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
Rscript "$1/tests/known/make_diagnose.R"
cmp diagnose_posterior.csv "$1/tests/known/diagnose_posterior.csv"
cmp diagnose_coda.csv "$1/tests/known/diagnose_coda.csv"
echo "R says what is stored, $(($(wc -l < diagnose_posterior.csv) - 1)) cases"
