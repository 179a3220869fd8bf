#!/bin/sh
# `gess report`: where it writes, what it needs, and its messages if it cannot. tests/report checks the pages.
#   report.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"

expect 0 '' "$gess" sample mixture --chains 10 --draws 120 --warmup 30 --seed 5 -q -o run
case $("$gess" report run 2>&1) in
*"built without Chart.js"*)
    expect 1 'libjs-chart.js' "$gess" report run
    [ ! -e run/report.html ] || fail "a report without Chart.js"
    [ $failed -eq 0 ] && echo "this build has no Chart.js: it says so"
    exit $failed
    ;;
esac

# ---- what it writes ----

[ -s run/report.html ] || fail "no run/report.html"
[ "$(head -c 15 run/report.html)" = '<!doctype html>' ] || fail "not a page"
[ "$(tail -n 1 run/report.html)" = '</html>' ] || fail "a page without its end"
grep -q '{{' run/report.html && grep -oE '\{\{(style|chart|data|vector|figures|script)\}\}' run/report.html | grep -q . && fail "a part was not filled in"
cp run/report.html first.html
expect 0 'run/report.html' "$gess" report run
cmp -s first.html run/report.html || fail "the same run, another report"
expect 0 'other.html' "$gess" report run -o other.html
cmp -s first.html other.html || fail "-o writes something else"
[ ! -e run/report.html.tmp ] && [ ! -e other.html.tmp ] || fail "a temporary file stays"

# it contains the text of `diagnose`
"$gess" diagnose run --json > verdict.json
# (python is there for the tests of the page, too)
python3 - << 'END' || fail "other words than those of diagnose"
import json, re
page = open("first.html").read()
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1))
verdict = json.load(open("verdict.json"))
said = [(f["text"], f["advice"]) for f in verdict["findings"]]
assert said and [(f["text"], f["advice"]) for f in data["verdict"]["findings"]] == said, said
assert data["verdict"]["pass"] == verdict["pass"]
END

# draws.gess is enough
mkdir bare
cp run/draws.gess bare/
expect 0 'bare/report.html' "$gess" report bare
# a broken file of the run is named, and no report is left
cp -r run broken
rm broken/report.html
echo '{' > broken/history.json
expect 5 'broken/history.json, line' "$gess" report broken
[ ! -e broken/report.html ] || fail "a report of a broken run"

# ---- several runs, and how the page begins ----

expect 0 '' "$gess" sample mixture --chains 10 --draws 80 --warmup 30 --seed 6 -q -o second
expect 0 'both.html' "$gess" report run second -o both.html
python3 - << 'END' || fail "the page of two runs"
import json, re
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', open("both.html").read(), re.S).group(1))
assert data["draws"] == 120 and [o["draws"] for o in data["others"]] == [80], data["others"]
assert "trace" in data["plots"][0] and "trace" not in data["others"][0]["plots"][0]
assert data["moments"] is False
END
expect 0 '' "$gess" report run -o mean.html --mean
grep -q '"moments":true' mean.html || fail "--mean changes nothing"
grep -q '"evidence":null' mean.html || fail "an evidence that was not computed"
"$gess" evidence run --json > evidence.out
"$gess" report run -o mean.html --mean > out
python3 - << 'END' || fail "the evidence on the page"
import json, re
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', open("mean.html").read(), re.S).group(1))
told = json.load(open("evidence.out"))
assert data["evidence"]["refused"] == (told["verdict"] != "agree") and data["evidence"]["log_evidence"] == told["log_evidence"], (data["evidence"], told)
END
printf 'x1, 1.5\n' > truth
expect 0 '' "$gess" report run -o truth.html --truth truth
grep -q '"truth":1.5' truth.html || fail "no true value"
expect 1 'does not give its log prior apart' "$gess" report run -o prior.html --prior
expect 5 'nowhere' "$gess" report run nowhere -o nowhere.html
[ ! -e nowhere.html ] || fail "a page of a run that is not there"

# ---- what it cannot do ----

expect 1 'which run?' "$gess" report
expect 1 'one run too many' "$gess" report run run run run run run run run run
expect 5 'nowhere/draws.gess' "$gess" report nowhere
expect 5 'cannot write no/such/folder' "$gess" report run -o no/such/folder.html
expect 5 'cannot write /dev/full' "$gess" report run -o /dev/full
[ -c /dev/full ] || fail "/dev/full is gone"
# a file that the disk has no room for: the earlier one stays
expect 5 'cannot write run/report.html' sh -c "trap '' XFSZ; ulimit -f 100; exec $gess report run"
cmp -s first.html run/report.html || fail "the earlier report is gone"
[ ! -e run/report.html.tmp ] || fail "half a report stays"

[ $failed -eq 0 ] && echo "reports are written whole or not at all"
exit $failed
