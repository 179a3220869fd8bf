#!/bin/sh
# Runs that version 0.1 wrote (tests/data/runs-0.1) can be read: summary, diagnose, report and export give the figures that
# version 0.1 gave. Resuming them is refused with a message, and their files stay unchanged.
#   old_runs.sh GESS SOURCE_FOLDER
set -u
stored=$2/tests/data/runs-0.1
# shellcheck source=tests/command.sh
. "$2/tests/command.sh"

# same_figures OLD NEW: every "key": value of OLD is in NEW, in the same order, numbers to 9 digits. NEW may have more keys.
same_figures()
{
    awk '
    function trim(s) { gsub(/^[ \t"]+|[ \t",]+$/, "", s); return s }
    function key(line) { return line ~ /^ *"[^"]*": / ? trim(substr(line, 1, index(line, ": ") - 1)) : "" }
    function value(line) { return trim(substr(line, index(line, ": ") + 2)) }
    function same(a, b) {
        if (a == b) return 1
        if (a !~ /^-?[0-9]/ || b !~ /^-?[0-9]/) return 0
        d = a - b; s = a < 0 ? -a : a + 0
        return (d < 0 ? -d : d) <= 1e-9 * (s > 1 ? s : 1)
    }
    NR == FNR { line[++count] = $0; next }
    key($0) != "" {
        at++
        while (at <= count && key(line[at]) != key($0)) at++
        if (at > count) { print "no \"" key($0) "\" where it was"; exit 1 }
        if (!same(value($0), value(line[at]))) { print key($0) ": " value(line[at]) " instead of " value($0); exit 1 }
        compared++
    }
    END { if (compared < 5) exit 1 }' "$2" "$1"
}

for run in eight-schools gaussian stopped; do
    cp -r "$stored/$run" . || exit 1
    chmod -R u+w "$run"
    sums=$(cat "$run/draws.gess" "$run/checkpoint" "$run/config.json" "$run/history.json" | cksum)

    "$gess" summary "$run" > table || fail "summary $run"
    grep -q 'lp__' table || fail "summary $run: $(cat table)"
    "$gess" summary "$run" --json > new.json || fail "summary $run --json"
    same_figures "$stored/$run.summary.json" new.json > why || fail "summary $run: $(cat why)"

    "$gess" diagnose "$run" --json > new.json
    status=$?
    want=6
    grep -q '"pass": true' "$stored/$run.diagnose.json" && want=0
    [ $status -eq $want ] || fail "diagnose $run ends with $status, not $want"
    grep -v '"text"\|"advice"' "$stored/$run.diagnose.json" > old.json # the wording may change
    same_figures old.json new.json > why || fail "diagnose $run: $(cat why)"

    if "$gess" report "$run" > said 2>&1; then
        [ -s "$run/report.html" ] || fail "report $run: no page"
    else
        grep -q 'built without Chart.js' said || fail "report $run: $(cat said)"
    fi

    "$gess" export "$run" --to csv -o "$run.csv" > said || fail "export $run: $(cat said)"
    (cd "$run.csv" && find . -name 'chain-*.csv' | LC_ALL=C sort | xargs cat | grep -v '^#' | cksum) > new.cksum
    cmp -s "$stored/$run.csv.cksum" new.cksum || fail "export $run: other draws"

    # a finished run and an unfinished one alike: the checkpoint has a format that this version does not know
    expect 5 "gess 0.1.0 wrote the run in $run" "$gess" resume "$run"
    for words in 'gess summary' 'gess report' 'gess export' 'to resume the run, use gess 0.1.0'; do
        expect 5 "$words" "$gess" resume "$run" --draws 200000
    done
    [ "$sums" = "$(cat "$run/draws.gess" "$run/checkpoint" "$run/config.json" "$run/history.json" | cksum)" ] ||
        fail "$run: resume changed its files"
done

# its config.json still starts a new run
"$gess" sample --config eight-schools/config.json -q -o again || fail "sample --config of version 0.1"
grep -q '"draws": 50' again/summary.json || fail "sample --config of version 0.1: other options"

[ $failed -eq 0 ] && echo "runs of version 0.1 can be read"
exit $failed
