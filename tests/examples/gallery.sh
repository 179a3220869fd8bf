#!/bin/sh
# The gallery: models build without a warning, pass `gess check`, and the commands of README.md, as they stand there, give the
# posteriors that it states.
#   gallery.sh GESS SOURCE_FOLDER [all]
# Without `all` only those that take seconds.
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"
source=$2
mkdir -p examples/gallery # as deep as in the source tree
cd examples/gallery || exit 1
cp -r "$source"/examples/gallery/. .
make -s GESS_CFLAGS="-I$source/include" CFLAGS='-O2 -Wall -Wextra -Werror' || fail 'the models do not build'

# near RUN NAME TRUTH TOLERANCE: the mean of a parameter
near()
{
    "$gess" summary "$1" --csv | awk -F, -v name="$2" -v truth="$3" -v tolerance="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mean") at = i }
        $1 == name { seen = 1; d = $at - truth; if (d < 0) d = -d; if (d > tolerance) { print name, $at; bad = 1 } }
        END { exit bad || !seen }' || fail "$1: the mean of $2 should be $3, to $4"
}

# stated RUN TEXT: the posteriors in the section of README.md that has the text are those of the run, to half of the last digit
# and five standard errors
stated()
{
    "$gess" summary "$1" --csv > summary.csv
    awk -v text="$2" '/^## /{ if (index(section, text)) printf "%s", section; section = "" } { section = section $0 "\n" }
        END { if (index(section, text)) printf "%s", section }' README.md |
        sed -n 's/^| \([A-Za-z0-9_]*\) | \([0-9.]*\) ± \([0-9.]*\) |$/\1 \2 \3/p' > stated
    [ -s stated ] || fail "README.md states no posterior beside $2"
    awk -F'[ ,]' 'function digit(number) { return index(number, ".") ? 10 ^ -(length(number) - index(number, ".")) : 1 }
        FILENAME == "stated" { mean[$1] = $2; sd[$1] = $3; left++; next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 in mean {
            left--
            d = $at["mean"] - mean[$1]; e = $at["sd"] - sd[$1]
            if (d < 0) d = -d
            if (e < 0) e = -e
            if (d > digit(mean[$1]) / 2 + 5 * $at["mcse_mean"] || e > digit(sd[$1]) / 2 + 0.15 * sd[$1]) { print $1, $at["mean"], $at["sd"]; bad = 1 }
        }
        END { exit bad || left != 0 }' stated summary.csv || fail "README.md states other posteriors than $1 has"
}

# block TEXT: the block of commands of README.md that has the text
block()
{
    awk -v text="$1" '/^```/ { if (on && index(lines, text)) printf "%s", lines; on = $0 == "```sh"; lines = ""; next } { lines = lines $0 "\n" }' README.md
}

# run_block NAME TEXT
ran=0
run_block()
{
    block "$2" > commands
    [ -s commands ] || fail "README.md has no block with $2"
    PATH=$(dirname "$gess"):$PATH sh -e commands > out.txt 2>&1 || fail "README.md, $1: $(tail -n 5 out.txt)"
    ran=$((ran + 1))
}

# run NAME
run()
{
    "$gess" check "./$1/model.so" --data "$1/data.csv" --starts 20 > out.txt 2>&1 || fail "check $1: $(tail -n 5 out.txt)"
    run_block "$1" "./$1/model.so"
    "$gess" diagnose "$1-run" > out.txt || fail "diagnose $1: $(head -n 5 out.txt)"
    stated "$1-run" "./$1/model.so"
}

run outliers
near outliers-run slope 2.24 0.03
near outliers-run intercept 34.3 4
run influenza
near influenza-run beta 1.737 0.012
near influenza-run gamma 0.541 0.011
near influenza-run R0 3.22 0.07
run process
near process-run noise 0.25 0.012
if [ "${3-}" = all ]; then
    run predators
    near predators-run alpha 0.547 0.014
    near predators-run delta 0.0241 0.0009
    run exoplanet
    near exoplanet-run period 12.24 0.03
    near exoplanet-run K 18.9 0.5
    run galaxies
    near galaxies-run lowest_mean 9.72 0.06
    near galaxies-run middle_mean 21.4 0.06
    # each of the six labellings: six modes of a sixth
    "$gess" diagnose galaxies-run --json | grep -o '"weight": *[0-9.e-]*' | sed 's/.*: *//' |
        awk '$1 > 0.05 { n++; if ($1 < 0.13 || $1 > 0.21) bad = 1 } END { exit n != 6 || bad }' || fail 'six modes of a sixth each'
    run_block transit 'exec:python3 transit/model.py'
    stated transit-run 'exec:python3 transit/model.py'
    near transit-run radius 0.101 0.001
    # Stan's own model takes BridgeStan (examples/new_stan, statistical/stan): here one of the same interface
    mkdir -p ../../tests/stan/models
    echo '{"y": [0.5, -1, 2]}' > ../../tests/stan/models/eight_schools.json
    cc -shared -fPIC -O1 -o eight_schools_model.so "$source/tests/stan/fake.c" -lm || fail 'the stand-in for a Stan model'
    run_block 'eight schools' ./eight_schools_model.so
    [ "$(grep -c '^```sh$' README.md)" -eq "$ran" ] || fail "README.md has other blocks than the $ran that ran"
fi
exit $failed
