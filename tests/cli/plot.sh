#!/bin/sh
# `gess plot`: every figure as every kind of file, what it needs, and its messages if it cannot. tests/unit/test_plot.c
# checks contours and pixels.
#   plot.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"
figures=$2/tests/report/figures.py

"$gess" sample eight-schools --chains 8 --draws 200 --warmup 60 --seed 5 -q -o run > out || fail "a run"

# ---- every figure, every kind ----

for kind in corner trace forest ranks; do
    for end in pdf svg png; do
        expect 0 "$kind.$end" "$gess" plot run $kind -o $kind.$end
        python3 "$figures" $kind.$end || fail "$kind.$end is no picture"
        [ ! -e $kind.$end.tmp ] || fail "a temporary file stays"
    done
done
expect 0 '' "$gess" plot run corner -o again.PDF
cmp -s corner.pdf again.PDF || fail "the same plot, another file"
if command -v pdftoppm > out; then
    [ -z "$(pdftoppm -r 40 -png corner.pdf page 2>&1)" ] || fail "pdftoppm complains"
fi

# ---- which parameters ----

expect 0 '5 of 10: the most correlated and the slowest' "$gess" plot run corner -o corner.svg
expect 0 '' "$gess" plot run corner -o two.svg --vars 'mu,tau'
grep -q '>mu = ' two.svg && grep -q '>tau = ' two.svg || fail "no titles with intervals"
grep -q 'theta' two.svg && fail "a parameter that was not asked for"
expect 0 '' "$gess" plot run corner -o mean.svg --vars 'mu,tau' --mean
cmp -s two.svg mean.svg && fail "--mean changes nothing"
expect 1 'no parameter of the run matches `nu`' "$gess" plot run corner -o x.svg --vars 'mu,nu'
expect 0 '' "$gess" plot run ranks -o x.svg --vars 'theta*'

# the numbers of a title are those of the summary
"$gess" summary run --json > summary.json
python3 - << 'END' || fail "the title has other numbers than the summary"
import json, re
p = next(p for p in json.load(open("summary.json"))["parameters"] if p["name"] == "mu")
for file, value in (("two.svg", p["q50"]), ("mean.svg", p["mean"])):
    shown = re.search(r">mu = (&#8722;)?([0-9.]+)", open(file).read())
    assert abs(float(shown.group(2)) * (-1 if shown.group(1) else 1) - value) < 0.06, (file, shown.group(0), value)
END

# numbers below the axes keep apart, also where one panel ends and the next begins
cat > apart.py << 'END'
import re, sys
WIDTH = {".": 0.278, "−": 0.584}
bad = []
for file in sys.argv[1:]:
    rows = {}
    for x, y, size, text in re.findall(r'<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9.]+)"[^>]*text-anchor="middle"[^>]*>([^<]*)<', open(file).read().replace("&#8722;", "−")):
        if re.fullmatch("−?[0-9.]+", text):
            half = sum(WIDTH.get(c, 0.556) for c in text) * float(size) / 2
            rows.setdefault(y, []).append((float(x) - half, float(x) + half, text))
    lowest = sorted(rows[max(rows, key=float)])
    assert len(lowest) >= 6, (file, lowest)
    bad += [(file, a[2], b[2]) for a, b in zip(lowest, lowest[1:]) if b[0] < a[1] + 1]
sys.exit(str(bad) if bad else 0)
END
for names in 'mu,tau,theta1' 'mu,theta*' 'theta3,theta5,tau,mu' 'theta7,theta8,mu'; do
    expect 0 '' "$gess" plot run corner -o "apart-$(echo "$names" | tr -d ',*').svg" --vars "$names"
done
python3 apart.py apart-*.svg || fail 'numbers of neighbouring axes touch'

# ---- true values ----

printf '{"mu": 4.4, "tau": 3.6}\n' > truth.json
printf '# simulated with\nmu, 4.4\n"tau" = 3.6\n' > truth.csv
for file in truth.json truth.csv; do
    expect 0 '' "$gess" plot run corner -o $file.svg --vars 'mu,tau' --truth $file
    grep -q '#d1660a' $file.svg || fail "$file: no true value is drawn"
done
cmp -s truth.json.svg truth.csv.svg || fail "true values of a JSON object and of lines differ"
printf 'mu, 4.4\nnope, 1\n' > bad.csv
expect 1 'the run has no parameter `nope`' "$gess" plot run corner -o x.svg --truth bad.csv
printf 'mu, 4.4\ntau\n' > bad.csv
expect 1 'bad.csv, line 2: expected a parameter and its value' "$gess" plot run corner -o x.svg --truth bad.csv
printf '{"mu": "a"}' > bad.json
expect 1 'the value of `mu` is not a number' "$gess" plot run corner -o x.svg --truth bad.json
expect 5 'cannot read none.csv' "$gess" plot run corner -o x.svg --truth none.csv

# ---- priors: N(1, 2) for a; those of b and c depend on each other, that of d is flat ----

"$gess" sample mixture --chains 8 --draws 60 --warmup 30 --seed 5 -q -o without > out || fail "a run"
expect 1 'does not give its log prior apart' "$gess" plot without corner -o x.svg --prior
cat > prior.c << 'END'
#include <gess/gess.h>
#include <math.h>
const unsigned gess_plugin_abi = GESS_ABI;
static int prior(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        const double *p = x + i * dim, z = (p[0] - 1) / 2, w = p[2] / exp(p[1] / 4);
        out[i] = -z * z / 2 - p[1] * p[1] / 2 - w * w / 2 - p[1] / 4 + 3;
    }
    return 0;
}
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    prior(user, worker, n, dim, x, out);
    for (size_t i = 0; i < n; i++) out[i] -= x[i * dim] * x[i * dim] / 2 + x[i * dim + 3] * x[i * dim + 3];
    return 0;
}
int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    (void)data, (void)message, (void)size;
    d->name = "prior";
    d->dim = 4;
    d->logp = logp;
    d->log_prior = prior;
    d->names = names;
    return 0;
}
void gess_plugin_close(gess_density *d) { (void)d; }
END
gcc -O2 -shared -fPIC -I "$2/include" prior.c -o prior.so -lm || exit 1
"$gess" sample ./prior.so --chains 8 --draws 300 --warmup 60 --seed 5 -q -o with > out || fail "a run with a prior"
expect 0 'no prior is drawn for 3 of 4 parameters' "$gess" plot with corner -o prior.svg --prior
# the page has the same curves, as numbers
case $("$gess" report with --prior 2>&1) in
*"built without Chart.js"*) ;;
*)
    python3 - << 'END' || fail "the curve of the prior is not that of N(1, 2)"
import json, math, re
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', open("with/report.html").read(), re.S).group(1))
priors = {p["name"]: p.get("prior") for p in data["plots"]}
assert priors["a"] and not priors["b"] and not priors["c"] and not priors["d"], priors
x, y = priors["a"]["x"], priors["a"]["y"]
assert len(x) == 201 and x[0] < -0.5 and x[-1] > 2, x
for v, h in zip(x, y):
    want = math.exp(-((v - 1) / 2) ** 2 / 2) / (2 * math.sqrt(2 * math.pi))
    assert abs(h - want) < 0.002 * want, (v, h, want)
END
    ;;
esac
grep -c 'stroke-dasharray="3"' prior.svg > count
[ "$(cat count)" -eq 2 ] || fail "the curve of one prior, and its key: $(cat count)"

# ---- what it cannot do ----

expect 1 'which plot?' "$gess" plot run
expect 1 'which file?' "$gess" plot run corner
expect 1 'there is no plot `pie`; choose corner, trace, forest or ranks' "$gess" plot run pie -o x.pdf
expect 1 'ends in .pdf, .svg or .png' "$gess" plot run corner -o x.jpg
expect 5 'nowhere/draws.gess' "$gess" plot nowhere corner -o x.pdf
expect 5 'cannot write no/such/x.pdf' "$gess" plot run corner -o no/such/x.pdf
expect 0 'KIND is one of' "$gess" plot --help

[ $failed -eq 0 ] && echo "every figure is drawn as every kind of file"
exit $failed
