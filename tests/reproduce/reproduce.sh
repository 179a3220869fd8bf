#!/bin/sh
# `gess reproduce` with few and small cells: what it writes, what it keeps, and how it is stopped.
#   reproduce.sh GESS SOURCE_FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../command.sh"
GESS_PEERS=$folder/none
export GESS_PEERS

# cells FOLDER: names of the stored cells
cells()
{
    find "$1/cells" -name '*.json' | sort
}

# state FOLDER: the stored cells with inode and time, so that a cell that is written again shows
state()
{
    find "$1/cells" -name '*.json' -printf '%p %i %T@\n' | sort
}

# timeless CSV: a table of figure-mixing without its column of seconds
timeless()
{
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "seconds") skip = i }
        { for (i = 1; i <= NF; i++) if (i != skip) printf "%s,", $i; print "" }' "$1"
}

# ---- what is refused ----
expect 1 'what? a name' "$gess" reproduce
expect 1 'there is no `figure-9`' "$gess" reproduce figure-9
expect 1 'one name only' "$gess" reproduce figure-t figure-trace
for bad in '--scale 0' '--scale 200' '--scale x' '--trials 0' '--trials 1.5' '--jobs 0' '--seed -1'; do
    # shellcheck disable=SC2086
    expect 1 'is not a' "$gess" reproduce figure-t $bad
done
expect 1 'takes I/N' "$gess" reproduce figure-t --shard 3
expect 1 'from 1 to 2' "$gess" reproduce figure-t --shard 3/2
expect 1 'not a whole number from 20' "$gess" reproduce table-scaling --iterations 100,x
expect 1 'takes numbers' "$gess" reproduce table-scaling --budgets 1,x
expect 5 'cannot read' "$gess" reproduce figure-t -q -o nothing --from absent
expect 5 'has no page' "$gess" reproduce --verify .
expect 1 'leaves no cell' "$gess" reproduce figure-t --only nothing -o nothing
: > file
expect 5 'cannot make the folder' "$gess" reproduce figure-t -q -o file/below
expect 0 'table-scaling' "$gess" reproduce --help

# ---- the small figures ----
for name in figure-ellipse figure-t figure-trace; do
    expect 0 'small/index.html' "$gess" reproduce $name --quick -q -o small
    for kind in csv json html gp svg png; do [ -s small/$name.$kind ] || fail "no $name.$kind"; done
    grep -q '<svg' small/$name.svg || fail "$name.svg is no SVG"
    [ "$(head -c 4 small/$name.png | tail -c 3)" = PNG ] || fail "$name.png is no PNG"
    grep -q '"verdict": "holds"' small/$name.json || fail "$name: no claim holds"
    ! grep -q '"verdict": "does not hold"' small/$name.json || fail "$name: $(grep -B2 'does not' small/$name.json)"
    grep -q "$name.html" small/index.html || fail "the index lacks $name"
    grep -q "($name.svg)" small/results.md || fail "results.md lacks $name"
done
[ "$(wc -l < small/figure-trace.csv)" -eq 11 ] || fail 'five variances, two trials'
grep -q '2 of 5 trials' small/figure-trace.html || fail 'the page says what was scaled down'

# ---- every sampler of the mixing figure, on one density ----
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only mixture/ -q -o mixing
for sampler in gess rdss cwss mh amh nuts pt gess-50 auto; do
    grep -q "^mixture,$sampler,1," mixing/figure-mixing.csv || fail "no row of $sampler"
done
! grep -q ',nan' mixing/figure-mixing.csv || fail "a figure is missing: $(grep ',nan' mixing/figure-mixing.csv)"
grep -q 'were left out: their virtual environment' mixing/figure-mixing.html || fail 'the page says that there are no peers'
grep -q 'first on . of 7 densities.*Not run with all seven: funnel, breast cancer' mixing/figure-mixing.html ||
    fail 'a claim is not judged by a part of the cells'
[ "$(grep -c '"verdict": "not judged"' mixing/figure-mixing.json)" -ge 6 ] || fail 'one density of seven decides nothing'
grep -q 'of evaluations, times 0.01 to 0.1;' mixing/figure-mixing.html || fail 'the page has the factors that were used'
grep -q '"revision": [1-9]' "$(cells mixing | head -n 1)" || fail 'a cell has the revision of its figure'

# a sampler that was not run is not beaten
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only mixture/mh,mixture/auto -q -o few
grep -q 'on 0 of 0 densities with both' few/figure-mixing.json || fail "judged without a rival: $(cat few/figure-mixing.json)"
! grep -q '"verdict": "[hd]' few/figure-mixing.json || fail "a verdict of what was not run: $(cat few/figure-mixing.json)"
grep -q 'Cells were left out' few/figure-mixing.html || fail 'no density has all of its samplers'
! grep -q 'class="first"' few/figure-mixing.html || fail 'first of one'

# the ESS of all draws, where only one in two is looked at: more than there are looked at
expect 0 index.html "$gess" reproduce figure-mixing --scale 0.2 --trials 1 --only mixture/auto -q -o long
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { all = $at["chains"] * $at["draws"]; ess = $at["ess_bulk"]; good = $at["stride"] == 2 && ess > 0.505 * all && ess < all }
    END { exit !good }' long/figure-mixing.csv || fail "the ESS of a long run: $(cat long/figure-mixing.csv)"

# ---- what was computed is kept; another setting is another cell ----
state mixing > before
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only mixture/ -q -o mixing
state mixing > after
cmp -s before after || fail 'a second run computed again'
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --seed 7 --only mixture/mh -q -o mixing
[ "$(cells mixing | wc -l)" -eq 10 ] || fail "another seed is another cell: $(cells mixing)"
expect 0 index.html "$gess" reproduce figure-mixing --quick --scale 0.012 --trials 1 --only mixture/mh -q -o mixing
[ "$(cells mixing | wc -l)" -eq 11 ] || fail "another scale is another cell: $(cells mixing)"

# a damaged cell, and one of other settings under this name, are computed again where the archive does not have them
rm mixing/cells.jsonl.gz
set -- $(cells mixing | grep mixture-mh-1)
printf '{"settings": {' > "$1"
cp "$(cells mixing | grep mixture-amh)" "$2"
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only mixture/mh -q -o mixing
expect 0 index.html "$gess" reproduce figure-mixing --quick --scale 0.012 --trials 1 --only mixture/mh -q -o mixing
for cell; do grep -q '"sampler": "mh"' "$cell" || fail "$cell was not computed again"; done

# ---- killed, and going on ----
"$gess" reproduce figure-mixing --quick --trials 1 --only mixture/ -q -o killed --jobs 1 > /dev/null 2>&1 &
run=$!
i=0
while [ "$(find killed -name '*.json' 2> /dev/null | wc -l)" -lt 2 ] && [ $i -lt 2400 ]; do
    sleep 0.05
    i=$((i + 1))
done
kill -9 $run
wait $run 2> /dev/null
state killed > before
[ "$(wc -l < before)" -lt 9 ] || echo 'killed too late to show anything'
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only mixture/ -q -o killed
state killed | grep -F -x -f before | cmp -s - before || fail 'cells of before the kill were computed again'
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only mixture/ -q -o mixing
timeless killed/figure-mixing.csv > a
timeless mixing/figure-mixing.csv > b
cmp a b || fail 'a killed run has other figures than one that was not'

# ---- stopped by SIGINT or SIGTERM: status 3, children gone; one process at a time in a folder ----
for signal in INT TERM; do
    rm -f stopped.txt
    "$gess" reproduce figure-mixing --only breast-cancer/rdss,breast-cancer/cwss -o stopped > stopped.txt 2>&1 &
    run=$!
    i=0
    while [ ! -s stopped.txt ] && [ $i -lt 2400 ]; do
        sleep 0.05
        i=$((i + 1))
    done
    expect 1 'another gess is at work' "$gess" reproduce figure-mixing -q --only breast-cancer/rdss -o stopped
    kill -$signal $run
    wait $run
    status=$?
    [ $status -eq 3 ] || fail "status $status after SIG$signal: $(cat stopped.txt)"
    grep -q 'the same command goes on from here' stopped.txt || fail "it says how to go on: $(cat stopped.txt)"
    ! pgrep -P $run > /dev/null 2>&1 || fail 'a cell runs on'
done
grep -q 'of unknown length; figure-mixing/breast-cancer/' stopped.txt || fail "progress says what is unknown: $(cat stopped.txt)"
[ -s stopped/cells.jsonl.gz ] || fail 'a run that was stopped stores its cells in the archive'

# ---- the estimate: from cells of the same kind, scaled by their cost; unknown where there are none ----
"$gess" reproduce figure-mixing --quick --trials 1 --only funnel/mh -o estimate > /dev/null 2> first.txt
grep -q '^1 cell is missing: unknown for 1 of them' first.txt || fail "nothing is known yet: $(cat first.txt)"
zcat estimate/cells.jsonl.gz | sed 's/"cost":[0-9.e+-]*/"cost":1.0/; s/"took_cpu":[0-9.e+-]*/"took_cpu":3600.0/' |
    gzip > rate.gz # an hour per unit of cost; the long cell has 0.2 + 100 chains * 110,000 iterations * 2 * 4e-7 = 9 units
expect 1 'about 9.0 core hours, and unknown for 1 of them' \
    "$gess" reproduce figure-mixing --trials 1 --only funnel/mh,funnel/rdss --partial --from rate.gz -o rates
expect 1 'none of the 2 cells has been computed' \
    "$gess" reproduce figure-mixing --trials 1 --only funnel/mh,funnel/rdss --partial -q -o estimate

# ---- a page of a part of the cells says which are missing, and no cell of another protocol is among them ----
expect 0 index.html "$gess" reproduce figure-trace --trials 2 --only variance-1/,variance-0.01/ -q -o partial
expect 0 index.html "$gess" reproduce figure-mixing --quick --trials 1 --only funnel/mh -q -o partial
expect 0 index.html "$gess" reproduce all --trials 5 --partial -q -o partial
grep -q 'Incomplete: 4 of 25 cells, 2 of 5 trials' partial/results.md || fail "what is missing: $(cat partial/results.md)"
grep -q '^- variance-0.01: trials 3 to 5$' partial/results.md || fail "which trials are missing: $(cat partial/results.md)"
grep -q '^- variance-100: trials 1 to 5$' partial/results.md || fail "which cells are missing: $(cat partial/results.md)"
grep -q '<h2>Cells that are missing</h2>' partial/figure-trace.html || fail 'the page lists the missing cells'
[ ! -e partial/table-scaling.html ] || fail 'a page without a cell'
grep -q 'times 0.01' partial/figure-mixing.html || fail 'the page of the shortened cells stays as it was, and says so'
expect 1 'none of the 7' "$gess" reproduce figure-mixing --trials 1 --only /mh/ --partial -q -o partial
expect 0 confirmed "$gess" reproduce --verify partial
zcat partial/cells.jsonl.gz | grep -q '"computed":{"commit"' || fail 'a cell says what computed it'
grep -q 'gess reproduce figure-trace --partial --trials 5' partial/figure-trace.html || fail 'the page has its command'
expect 0 index.html "$gess" reproduce figure-trace --trials 1 --only 'variance-1/,<b>' -q -o hostile
! grep -q '<b>' hostile/figure-trace.html hostile/index.html || fail 'the text of --only is escaped'
# another clone goes on from the archive
mkdir clone
cp partial/cells.jsonl.gz clone
expect 0 index.html "$gess" reproduce figure-trace --trials 3 --from clone/cells.jsonl.gz -q -o further
[ "$(cells further | wc -l)" -eq 15 ] || fail 'five variances, three trials'
[ "$(cells further | grep -c 'variance-1-')" -eq 3 ] || fail "the third trial is added: $(cells further)"
zcat further/cells.jsonl.gz | grep -q figure-mixing || fail 'cells that were not asked for are handed on'
! grep -q Incomplete further/results.md || fail 'nothing is missing'

# ---- a table of few and small cells ----
expect 0 index.html "$gess" reproduce table-scaling --scale 0.0025 --trials 2 --only /50-20- -q -o scaling
[ "$(wc -l < scaling/table-scaling.csv)" -eq 21 ] || fail 'five cells, two methods, two trials'
grep -q '10^-0.5 ± 10^-0.4' scaling/table-scaling.html || fail "the paper's cell is beside"
expect 0 index.html "$gess" reproduce figure-reuse --quick --trials 1 --only reuse-1000/ -q -o scaling
[ "$(wc -l < scaling/figure-reuse.csv)" -eq 2 ] || fail 'one cell of reuse'
# the second fit is to the group that has its 1000 iterations behind it
tr -d ' \n' < "$(cells scaling | grep reuse-1000)" | grep -q '"fits":\[\[0,[^]]*\],\[1000,' ||
    fail "where fits were made: $(cells scaling | grep reuse-1000 | xargs cat)"
grep -q 'evaluations, times 0.1;' scaling/figure-reuse.html || fail 'the factor of figure-reuse is that of its iterations'

# cells near the border, with a number of iterations; the others of the table do not see them
expect 0 index.html "$gess" reproduce table-scaling --scale 0.0025 --trials 1 --iterations 200,100 \
    --only two-group/1C/50-20-,i100/50-20,i200/50-40 -q -o border
grep -q 'on the same side of 1: . of 2 in 50 dimensions with 200 (2.5e+03 ms each)' border/table-scaling.json || fail "the best number of iterations: $(grep iterations border/table-scaling.json)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { n[$at["iterations"] " " $at["matrix"] " " $at["cores"]]++; evals[$at["iterations"]] = $at["evals"] }
    END { exit !(n["100 10 0"] == 1 && n["200 10 0"] == 1 && n["0 1 20"] == 1 && evals[200] > evals[100]) }' border/table-scaling.csv ||
    fail "what was run: $(cat border/table-scaling.csv)"
grep -q 'With two-group, . of 1 below 1 (. of 1 in 50 dimensions)' border/table-scaling.json || fail 'the table has one cell'
tr -d '\n' < border/table-scaling.json | grep -q '"150".*"827 (seed 20)".*"60967".*"19 of 21"' ||
    fail 'the matrix of the median trace is the one that is used'
grep -q '500 seconds were the same number of iterations' border/table-scaling.html || fail 'a verdict on the paper’s own numbers'

# ---- in parts, on several machines; brought together; checked by someone who runs nothing ----
parts='table-scaling --scale 0.0025 --budgets 0.003,0.0025 --trials 1 --only two-group/1C/50-20-,two-group/x -q'
# shellcheck disable=SC2086
for part in 1 2 3; do expect 0 cells "$gess" reproduce $parts --shard $part/3 -o part$part; done
[ ! -e part1/index.html ] || fail 'a part has no page'
[ "$(cells part1 | wc -l)" -eq 16 ] || fail "a third of 46 cells: $(cells part1)"
mv part3/cells.jsonl.gz third.gz
# shellcheck disable=SC2086
expect 0 index.html "$gess" reproduce $parts --from part1 --from part2 --from third.gz -o parts
# shellcheck disable=SC2086
expect 0 index.html "$gess" reproduce $parts -o whole
cut -d, -f1-9 parts/table-scaling.csv > a
cut -d, -f1-9 whole/table-scaling.csv > b
cmp a b || fail 'parts brought together differ from the whole'
find part1 part2 -name '*.json' -exec cat {} + | grep -o '"took": [0-9.e-]*' | sort > before
cat parts/cells/*.json | grep -o '"took": [0-9.e-]*' | sort > after
[ "$(comm -12 before after | wc -l)" -eq "$(wc -l < before)" ] || fail 'cells of other folders were computed again'
grep -q 'Cells below 1 by budget' parts/table-scaling.html || fail 'the page lacks the budgets'
expect 0 '1 page, 6 claims: confirmed' "$gess" reproduce --verify parts
expect 0 'confirmed' "$gess" reproduce --verify small
rm -rf parts/cells # what a clone of the results has
expect 0 '1 page, 6 claims: confirmed' "$gess" reproduce --verify parts
rm parts/*.png parts/*.gp # and what it can do without
expect 0 '2 scripts and bitmaps of plots are not here' "$gess" reproduce --verify parts
tar xzf parts/reproduction.tar.gz
expect 0 '1 page, 6 claims: confirmed' "$gess" reproduce --verify gess-reproduction
sed -i 's/"does not hold"/"holds"/' parts/table-scaling.json
expect 6 'its claims are not those' "$gess" reproduce --verify parts
cp gess-reproduction/table-scaling.json parts
echo >> parts/table-scaling.csv
expect 6 'its CSV is not that' "$gess" reproduce --verify parts
zcat gess-reproduction/cells.jsonl.gz | sed '1s/"error":[0-9.e+-]*/"error":0.5/' | gzip > gess-reproduction/changed.gz
mv gess-reproduction/changed.gz gess-reproduction/cells.jsonl.gz
expect 6 'are not those that the cells give' "$gess" reproduce --verify gess-reproduction
head -c 300 third.gz > gess-reproduction/cells.jsonl.gz
expect 5 'not a cell' "$gess" reproduce --verify gess-reproduction

# ---- without gnuplot ----
PATH=$folder/none "$gess" reproduce figure-t -q -o plain > plain.txt 2>&1
[ $? -eq 5 ] || fail 'without gnuplot'
grep -q 'gnuplot-nox' plain.txt || fail "without gnuplot it says: $(cat plain.txt)"
for kind in csv json html gp; do [ -s plain/figure-t.$kind ] || fail "without gnuplot there is no figure-t.$kind"; done
[ ! -e plain/figure-t.svg ] || fail 'a plot without gnuplot'
exit $failed
