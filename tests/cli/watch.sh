#!/bin/sh
# `gess watch`: what it says of a run that goes on, is killed, stopped and finished; that it only reads; and that draws do
# not depend on progress.json.
#   watch.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"

# a density that takes two milliseconds
cat > slow.c << 'END'
#include <gess/gess.h>
#include <time.h>
const unsigned gess_plugin_abi = GESS_ABI;
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    struct timespec t = {0, 2000000};
    (void)user, (void)worker;
    nanosleep(&t, NULL);
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < dim; k++) out[i] -= x[i * dim + k] * x[i * dim + k] / 2;
    }
    return 0;
}
int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size)
{
    static const char *const names[] = {"alpha", "beta<b>"};
    (void)data, (void)message, (void)size;
    d->name = "slow & steady";
    d->dim = 2;
    d->logp = logp;
    d->names = names;
    return 0;
}
void gess_plugin_close(gess_density *d) { (void)d; }
END
gcc -O2 -shared -fPIC -I "$2/include" slow.c -o slow.so || exit 1

# wait_for TEXT DIR: until `gess watch DIR --once` says it, two minutes at most
wait_for()
{
    i=0
    while [ $i -lt 600 ]; do
        "$gess" watch "$2" --once 2> message | grep -q "$1" && return 0
        sleep 0.2
        i=$((i + 1))
    done
    fail "no '$1' from gess watch: $("$gess" watch "$2" --once 2>&1)"
}

# ---- nothing there yet ----

expect 5 'no directory of a run' "$gess" watch nowhere --once
mkdir empty
expect 0 'no run has begun there yet' "$gess" watch empty --once
expect 1 'which run?' "$gess" watch
expect 1 'is no number of seconds' "$gess" watch empty -i 0

# ---- a run that goes on ----

"$gess" sample ./slow.so --chains 4 --target-ess 100000 --threads 1 -q -o live > live.out 2>&1 &
run=$!
wait_for 'sampling' live
wait_for 'ESS  .* of 100,000' live
"$gess" watch live --once > text
grep -q '4 chains' text || fail "no chains: $(cat text)"
grep -q 'budget .* evaluations' text || fail "no budget: $(cat text)"
grep -q 'R-hat .* wanted' text || fail "no R-hat: $(cat text)"
grep -q 'slowest ' text || fail "no slowest parameters: $(cat text)"
grep -qE '[0-9]e[+][0-9]' text && fail "a number that has to be decoded: $(cat text)"
grep -q ' left' text || fail "no time left: $(cat text)"
# a page that reloads itself
i=0
while [ $i -lt 240 ]; do # a curve needs two checks of the targets
    expect 0 'sampling' "$gess" watch live --once --html page.html -i 3
    ! grep -q 'class="series"' page.html || break
    sleep 0.5
    i=$((i + 1))
done
grep -q '<meta http-equiv="refresh" content="3">' page.html || fail "the page does not reload itself"
grep -q '<progress' page.html && grep -q 'class="series"' page.html || fail "no bars and curves in the page"
grep -q '<script\|<b>' page.html && fail "the page has something that a name brought"
[ ! -e page.html.tmp ] || fail "half a page stays"
expect 5 'cannot write no/such/page.html' "$gess" watch live --once --html no/such/page.html
"$gess" watch live --json > progress.json || fail "no JSON"
python3 - << 'END' || fail "what JSON says"
import json
p = json.load(open("progress.json"))
assert p["state"] == "running" and p["watch"] == 1 and p["targets"]["ess"] == 100000, p
assert p["chains"] == 4 and p["evals"] > 0 and p["checks"] and p["stages"] and p["ess"] > 0, p
assert p["slowest"] and all(set(s) == {"name", "ess", "rhat"} for s in p["slowest"]), p
assert all(a[0] < b[0] for a, b in zip(p["checks"], p["checks"][1:])), p["checks"]
END
# in turns, until something ends it
: > turns
"$gess" watch live -i 0.5 > turns &
watching=$!
i=0
while [ "$(grep -c '^live: ' turns)" -lt 3 ] && [ $i -lt 240 ]; do
    sleep 0.5
    i=$((i + 1))
done
kill $watching
wait $watching 2> message
[ "$(grep -c '^live: ' turns)" -ge 3 ] || fail "watch did not go on: $(cat turns)"

# ---- killed, resumed, stopped ----

worker=$(python3 -c 'import json; print(json.load(open("live/progress.json"))["pid"])')
kill -9 "$worker" "$run" 2> message
wait "$run" 2> message
wait_for 'its process is gone' live
expect 0 'gess resume' "$gess" watch live
"$gess" resume live --max-time 1s -q > out 2>&1 # a loaded machine may end it by force
expect 0 'gess resume' "$gess" watch live
for seconds in 1 5 25; do # likewise
    expect 3 '' "$gess" sample funnel --draws 100000000 --max-time ${seconds}s -q --overwrite -o stopped
    "$gess" watch stopped | grep -q 'its process is gone' || break
done
expect 0 'stopped' "$gess" watch stopped
expect 0 '"state": "stopped"' "$gess" watch stopped --json

# ---- finished; it only reads ----

"$gess" sample mixture --chains 10 --draws 120 --warmup 30 --seed 5 -q -o a > out || fail "a run"
"$gess" sample mixture --chains 10 --draws 120 --warmup 30 --seed 5 -o b > out 2>&1 || fail "a run with progress"
cmp -s a/draws.gess b/draws.gess || fail "draws depend on whether progress is shown"
ls -l --full-time a > before
expect 0 'finished' "$gess" watch a
expect 0 'R-hat' "$gess" watch a --once
ls -l --full-time a > after
cmp -s before after || fail "watching changes the directory"
expect 0 'finished' "$gess" watch a --html done.html
grep -q 'http-equiv="refresh"' done.html && fail "the page of a finished run reloads itself"
# of an earlier version, without progress.json
rm a/progress.json
expect 0 'finished' "$gess" watch a
# a damaged file
echo '{' > b/progress.json
expect 5 'progress.json is damaged' "$gess" watch b --once
# --overwrite removes it with the other files of the run
expect 0 '' "$gess" sample mixture --chains 10 --draws 50 --warmup 30 --seed 6 -q -o b --overwrite
expect 0 'finished' "$gess" watch b
[ ! -e b/progress.json.tmp ] || fail "a temporary file stays"

# a finished run: the R-hat that decided, as the verdict has it
"$gess" sample german-credit -q -o decided 2> /dev/null || fail 'german-credit cannot be sampled'
decided=$("$gess" diagnose decided | sed -n 's/.*worst nested R-hat \([0-9.]*\).*/\1/p')
"$gess" watch decided --once > out.txt
grep -q "^R-hat  *$decided, 1.01 is wanted (of groups of chains" out.txt || fail "not the nested R-hat, $decided: $(cat out.txt)"

[ $failed -eq 0 ] && echo "runs are watched while they go on, are killed, stopped and finished"
exit $failed
