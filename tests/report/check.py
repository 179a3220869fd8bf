"""Opens reports in a headless Chromium and compares what is drawn with the draws.

    check.py GESS MAKE_RUNS [PICTURES]      PICTURES: a folder for screenshots of every page
    check.py GESS MAKE_RUNS --large         only the size of the report of a large run

Ends with 77 where there is no Chromium.
"""
import base64
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import figures
from browser import Browser, Page

MAX_BYTES = 5_000_000
failures = []


def check(what, good, detail=""):
    if not good:
        failures.append(what)
        print(f"FAILED: {what} {detail}", flush=True)


# Of every chart: marks drawn and numbers given, a label, and how many colours its pixels have.
SURVEY = """
[...gessReport.charts].map(([id, chart]) => {
  const c = chart.canvas, copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(c, 0, 0);
  const pixels = context.getImageData(0, 0, c.width, c.height).data;
  const colours = new Set();
  let inked = 0;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 0) {
    inked++;
    colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  }
  return { id, label: c.getAttribute('aria-label') || '', role: c.getAttribute('role'), inked: inked / (c.width * c.height), colours: colours.size,
    sets: chart.data.datasets.map((d, i) => ({ label: d.label || '', given: d.data.length, drawn: chart.getDatasetMeta(i).data.length, hidden: !chart.isDatasetVisible(i),
      bad: chart.getDatasetMeta(i).data.filter((m, k) => { const y = d.data[k].y ?? d.data[k]; return (Array.isArray(y) ? y : [y]).every(Number.isFinite) && !(Number.isFinite(m.x) && Number.isFinite(m.y)); }).length })) };
})
"""


def survey(name, page):
    """What holds for every chart of every page."""
    found = {c["id"]: c for c in page.run(SURVEY)}
    for id, c in found.items():
        what = f"{name}, {id}"
        check(f"{what}: as many marks as numbers", all(s["given"] == s["drawn"] > 0 and not s["hidden"] for s in c["sets"]), c["sets"])
        check(f"{what}: every mark has a place", not any(s["bad"] for s in c["sets"]), c["sets"])
        check(f"{what}: is not blank", c["inked"] > 0.002 and c["colours"] > 3, (c["inked"], c["colours"]))
        check(f"{what}: has a name", c["role"] == "img" and len(c["label"]) > 20 and c["label"].endswith("."), c["label"])
    return found


def clean(name, page):
    check(f"{name}: no complaint in the console", not page.complaints(), page.complaints())
    check(f"{name}: no request", not page.requests(), page.requests())
    check(f"{name}: no image, no script of a name's", page.run("document.images.length === 0 && document.scripts.length === 3"))
    check(f"{name}: no wider than the screen", page.run("document.documentElement.scrollWidth <= innerWidth"))


def marks(chart, label=""):
    return [s["drawn"] for s in chart["sets"] if label in s["label"]]


# ---- against the draws themselves ----

def read_csv(folder):
    chains = []
    for c in range(1, len(os.listdir(folder)) + 1):
        with open(f"{folder}/chain-{c}.csv", newline="") as f:
            rows = list(csv.reader(line for line in f if not line.startswith("#")))
        chains.append({n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(rows[0])})
    return chains


def near(a, b, scale, steps=1.0):
    return abs(a - b) <= steps * scale / 65534 + 1e-12 * abs(b)


def compare(name, page, chains):
    """Histogram, traces, ranks and autocorrelations of every parameter, worked out again."""
    data = page.run("gessReport.data")
    everything = page.run("gessReport.data.plots.map(p => ({ name: p.name, lo: p.density.lo, hi: p.density.hi, outside: p.density.outside,"
                          " counts: gessReport.unpack(p.density.counts), curve: gessReport.unpack(p.density.curve), trace: gessReport.unpack(p.trace.values),"
                          " ranks: gessReport.unpack(p.ranks.counts), acf: gessReport.unpack(p.acf.values), sample: gessReport.unpack(p.sample) }))")
    check(f"{name}: a plot for every column", [p["name"] for p in everything] == list(chains[0])[1:] + ["lp__"])
    n, k = len(chains[0]["lp__"]), len(chains)
    for got, raw in zip(everything, data["plots"]):
        x = [c[got["name"]] for c in chains]
        flat = sorted(v for c in x for v in c)
        lo, hi, bins = got["lo"], got["hi"], len(got["counts"])
        inside = [v for v in flat if lo <= v <= hi]
        counts = [0] * bins
        for v in inside:
            counts[min(bins - 1, int((v - lo) / (hi - lo) * bins))] += 1
        what = f"{name}, {got['name']}"
        check(f"{what}: histogram", sum(abs(a - b) for a, b in zip(counts, got["counts"])) <= 2, (counts, got["counts"]))
        check(f"{what}: draws outside", got["outside"] == len(flat) - len(inside) == len(flat) - sum(got["counts"]))
        area = sum(got["curve"]) * (hi - lo) / len(got["curve"])
        check(f"{what}: the density's area {area:.3f}", 0.96 < area < 1.01)
        t, scale = raw["trace"], raw["trace"]["values"]["hi"] - raw["trace"]["values"]["lo"]
        for row, chain in enumerate(t["chains"]):
            drawn = got["trace"][row * t["points"]:(row + 1) * t["points"]]
            check(f"{what}: trace of chain {chain}", all(near(v, x[chain - 1][i * t["step"]], scale) for i, v in enumerate(drawn)))
        means = [sum(c) / n for c in x]
        odd = max(range(k), key=lambda c: abs(means[c] - sum(means) / k))
        check(f"{what}: the chain furthest from the others is shown", odd + 1 in t["chains"])
        rank = {v: i for i, v in enumerate(flat)}
        ranks = [[0] * 20 for _ in x]
        for c, values in enumerate(x):
            for v in values:
                ranks[c][min(19, int((rank[v] + 0.5) / len(flat) * 20))] += 1
        off = sum(abs(a - b) for a, b in zip((r for c in ranks for r in c), got["ranks"]))
        check(f"{what}: ranks", sum(got["ranks"]) == len(flat) and (off == 0 or len(rank) < len(flat)), off)
        centred = [[v - m for v in c] for c, m in zip(x, means)]
        step = raw["acf"]["step"]
        for lag in (0, 1, 5):
            r = sum(c[i] * c[i + lag * step] for c in centred for i in range(n - lag * step)) / sum(v * v for c in centred for v in c)
            check(f"{what}: autocorrelation at lag {lag * step}", abs(got["acf"][lag] - r) < 1e-4, (got["acf"][lag], r))
        points = [v for c in x for v in c]
        sampled = [points[int(i * (len(points) / data["sampled"]))] for i in range(data["sampled"])]
        wide = raw["sample"]["hi"] - raw["sample"]["lo"]
        check(f"{what}: sample of the corner plot", len(got["sample"]) == data["sampled"] and all(near(a, b, wide) for a, b in zip(got["sample"], sampled)))


# The share of the sample inside a contour of the first two parameters, by crossings, and the widest gap in its lines.
INSIDE = """
(k) => {
  const { lines, share } = gessReport.drawings.get('corner').masses['1-0-0-' + k], G = 64;
  const [a, b] = [0, 1].map(i => { const d = gessReport.data.plots[i].density; return gessReport.sample(i).map(v => (v - d.lo) / (d.hi - d.lo) * G); });
  let inside = 0;
  for (let k = 0; k < a.length; k++) {
    let odd = false;
    for (const r of lines) for (let m = 0; m < r.length; m++) {
      const p = r[m], q = r[(m + 1) % r.length];
      if ((p[1] > b[k]) !== (q[1] > b[k]) && a[k] < p[0] + (b[k] - p[1]) / (q[1] - p[1]) * (q[0] - p[0])) odd = !odd;
    }
    inside += odd;
  }
  const gaps = lines.map(r => Math.hypot(r[0][0] - r[r.length - 1][0], r[0][1] - r[r.length - 1][1]));
  return [share, inside / a.length, Math.max(...gaps)];
}
"""

# Texts and marks of a drawing as the page shows it.
SHOWN = """
(id) => {
  const svg = document.querySelector(id + ' svg'), texts = [...svg.querySelectorAll('text')], bad = [...svg.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value)));
  return { texts: texts.map(t => t.textContent), paths: svg.querySelectorAll('path').length, bad: bad.length, width: svg.getBoundingClientRect().width,
    smallest: Math.min(...texts.map(t => parseFloat(t.getAttribute('font-size')))), label: svg.getAttribute('aria-label') };
}
"""


def check_corner(name, page):
    page.run("gessReport.corner([0, 1, 2])")
    names = page.run("gessReport.data.plots.slice(0, 3).map(p => p.name)")
    shown = page.run(f"({SHOWN})('#corner-plots')")
    check(f"{name}: three titles with intervals", all(any(t.startswith(n + " = ") for t in shown["texts"]) for n in names), shown["texts"])
    check(f"{name}: ticks at both axes", sum(t.replace("−", "").replace(".", "").isdigit() for t in shown["texts"]) >= 6, shown["texts"])
    check(f"{name}: no number is missing in the corner", shown["bad"] == 0)
    for k, wanted in ((0, 1 - math.exp(-0.5)), (1, 1 - math.exp(-2))):
        share, inside, gap = page.run(f"({INSIDE})({k})")
        check(f"{name}: {inside:.4f} of the draws are inside the contour of {wanted:.4f}", abs(share - wanted) < 1e-9 and abs(inside - wanted) < 0.01)
        check(f"{name}: its lines are closed", gap < 1.5, gap)


# A drawing, or a chart, as a file of a kind: base64.
SAVED = """
(id, kind) => (async () => {
  const blob = await GessVector.blob(gessReport.drawing(id), kind), bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (const b of bytes) text += String.fromCharCode(b);
  return btoa(text);
})()
"""


def check_saved(name, page, ids):
    """What the buttons save is a file of its kind, with something in it."""
    for id in ids:
        for kind in ("svg", "pdf", "png"):
            data = base64.b64decode(page.run(f"({SAVED})('{id}', '{kind}')"))
            what = f"{name}: {id} as {kind}"
            try:
                figures.check(data, kind)
            except ValueError as e:
                check(what, False, e)


def check_results(name, page, summary, chains):
    """The table that opens the page: medians and 68 % intervals, then means and sds."""
    table = page.run("gessReport.data.table")
    for i, p in enumerate(summary["parameters"]):
        flat = sorted(v for c in chains for v in c[p["name"]])
        for key, share in (("q16", 0.158655253931457), ("q84", 0.841344746068543)):
            at = share * (len(flat) - 1)
            want = flat[int(at)] + (at - int(at)) * (flat[int(at) + 1] - flat[int(at)])
            check(f"{name}: {key} of {p['name']}", abs(table[key][i] - want) < 1e-12 * max(1, abs(want)), (table[key][i], want))
    first = "document.querySelector('#results-table tbody').textContent"
    cells = page.run("[...document.querySelectorAll('#results-table tbody tr')].map(r => [...r.children].map(e => e.textContent))")
    check(f"{name}: a row of results for each parameter", [c[0] for c in cells] == [p["name"] for p in summary["parameters"] if p["name"] != "lp__"], cells)
    check(f"{name}: R-hat beside each result", all(c[2] == f"{p['r_hat_nested'] if p['r_hat_nested'] is not None else p['r_hat']:.3f}" for c, p in zip(cells, summary["parameters"])), cells)
    before, text = page.run(first), page.run("gessReport.resultText('csv')")
    rows = list(csv.DictReader(text.splitlines()))
    check(f"{name}: copied numbers", all(abs(float(r["median"]) - p["q50"]) <= 1e-12 * abs(p["q50"]) for r, p in zip(rows, summary["parameters"])), text)
    page.run("document.querySelector('input[value=mean]').click()")
    rows = list(csv.DictReader(page.run("gessReport.resultText('csv')").splitlines()))
    check(f"{name}: mean and sd when they are chosen", page.run(first) != before and all(abs(float(r["mean_plus_sd"]) - p["mean"] - p["sd"]) < 1e-12 * (1 + abs(p["mean"])) for r, p in zip(rows, summary["parameters"])))
    latex = page.run("gessReport.resultText('latex')").splitlines()
    check(f"{name}: LaTeX rows", len(latex) == len(rows) and all(line.endswith("\\\\") and line.count("$") == 2 for line in latex), latex)
    page.run("document.querySelector('input[value=median]').click()")
    for id in ("#forest", "#traces-plots"):
        shown = page.run(f"({SHOWN})('{id}')")
        check(f"{name}: {id} is drawn", shown["bad"] == 0 and shown["paths"] > 10 and all(p["name"] in shown["texts"] for p in summary["parameters"] if p["name"] != "lp__"), shown)


# The filled marks of the forest plot, and the thick lines: how long they are.
FOREST_MARKS = """
(() => {
  const width = part => Math.max(...part.map(p => p[0])) - Math.min(...part.map(p => p[0])), ops = gessReport.drawings.get('forest').ops.filter(o => o.kind === 'path');
  return ops.flatMap((o, i) => o.pen.fill === 'card' ? [[width(o.parts[0]), width(ops[i - 1].parts[0])]] : []);
})()
"""


def check_narrow(name, page):
    """At 360 px R-hat is seen without scrolling, the corner plot has ticks and letters that can be read, and no mark hides an interval."""
    marks_of = page.run(FOREST_MARKS)
    check(f"{name}: no mark of the forest hides its interval", all(2.5 * mark <= interval + 1e-9 for mark, interval in marks_of), marks_of)
    for table, row in (("results-table", 2), ("table", 1)):
        right = page.run(f"document.querySelector('#{table} tbody tr').children[{row}].getBoundingClientRect().right")
        head = page.run(f"document.querySelector('#{table} thead tr').children[{row}].textContent")
        check(f"{name}: R-hat of #{table} is in view", "hat" in head and right <= 360, (head, right))
    shown = page.run(f"({SHOWN})('#corner-plots')")
    check(f"{name}: ticks of the corner", sum(t.replace("−", "").replace(".", "").isdigit() for t in shown["texts"]) >= 4, shown["texts"])
    check(f"{name}: letters of the corner", shown["smallest"] >= 7 and shown["width"] <= 360, shown)


def check_table(name, page, summary):
    """The table has the figures of `gess summary --json`, sorts and filters."""
    names = page.run("[...document.querySelectorAll('#table tbody th')].map(e => e.textContent)")
    check(f"{name}: rows in the order of the summary", names == [p["name"] for p in summary["parameters"]], names)
    table = page.run("gessReport.data.table")
    for key in ("mean", "sd", "mcse_mean", "q5", "q50", "q95", "ess_bulk", "ess_tail", "ess_coda", "r_hat", "drift_z", "tau"):
        check(f"{name}: {key} as in the summary", table[key] == [p[key] for p in summary["parameters"]])
    heads = page.run("[...document.querySelectorAll('#table thead button')].map(e => e.textContent)")
    column = heads.index("r_hat")
    press = f"document.querySelectorAll('#table thead button')[{column}].click()"
    cells = f"[...document.querySelectorAll('#table tbody tr')].map(r => r.children[{column}].textContent)"
    page.run(press)
    worst_first = [float(v) for v in page.run(cells)]
    page.run(press)
    best_first = [float(v) for v in page.run(cells)]
    check(f"{name}: sorts", worst_first == sorted(worst_first, reverse=True) and best_first == sorted(best_first))
    state = page.run(f"document.querySelectorAll('#table thead th')[{column}].getAttribute('aria-sort')")
    check(f"{name}: says how it is sorted", state == "ascending", state)
    page.run("{ const f = document.getElementById('filter'); f.value = 'LP'; f.dispatchEvent(new Event('input')); }")
    check(f"{name}: filters", page.run("document.querySelectorAll('#table tbody tr').length") == 1)


HISTORY = {"warmup": [{"ensemble": e, "stage": s, "iterations": 20, "evals": 1000 * s, "evals_per_update": 4.0 / s, "nu": 3.0 * s, "trace": 90.0 / s,
                       "score": -3.0, "gain": 0.1, "gap": 0.2, "mean_lp": -5.0, "moving": s < 4} for e in (1, 2) for s in range(1, 8)],
           "checks": [{"draws": 50, "evals": 9000, "ess": 200.0, "rhat": 1.03}, {"draws": 75, "evals": 12000, "ess": 500.0, "rhat": 1.01}],
           "angles": [i + 1 for i in range(32)], "updates_by_evals": [1000 >> i if i < 10 else 0 for i in range(32)],
           "failures": 0, "nans": 0, "seconds_warmup": 2.0, "seconds_sampling": 1.0, "evals_warmup": 7000, "evals_sampling": 5000}


# Thirteen modes of five parameters, which differ most in x2, then in x1.
MODES = [{"centre": [2.0 * i, -10.0 * i, 0, 0, 0.25], "sd": [1, 0.5, 1, 1, 1], "weight": (i * 5 % 13 + 1) / 91, "error": 0.003 if i else None, "chains": 1 + i % 4}
         for i in range(13)]

# Per row of the table of modes: the texts of its cells.
MODE_ROWS = "[...document.querySelectorAll('#modes-table tr')].map(r => [...r.children].map(e => e.textContent))"


def check_modes(name, page, modes):
    head, *rows = page.run(MODE_ROWS)
    heaviest = sorted(modes, key=lambda m: -m["weight"])[:10]
    check(f"{name}: columns of the table of modes", head == ["mode", "weight", "error", "chains", "x2", "x1"], head)
    check(f"{name}: the ten heaviest modes", len(rows) == 10 and all(abs(float(r[1]) - m["weight"]) < 5e-5 for r, m in zip(rows, heaviest)), rows)
    check(f"{name}: their centres", all(float(r[4].split(" ± ")[0].replace("−", "-")) == m["centre"][1] and r[4].endswith(".00 ± 0.50") for r, m in zip(rows, heaviest)), rows)
    check(f"{name}: their errors and chains", all(r[2] == ("NA" if m["error"] is None else "0.003") and r[3] == f"{m['chains']} of 4" for r, m in zip(rows, heaviest)), rows)
    check(f"{name}: how many there are", "10 heaviest of 13" in page.run("document.getElementById('modes-note').textContent"))
    widths = page.run("[...document.querySelectorAll('#modes-table .bar')].map(e => e.getBoundingClientRect().width)")
    check(f"{name}: bars as long as weights are", all(abs(w / widths[0] - m["weight"] / heaviest[0]["weight"]) < 0.02 for w, m in zip(widths, heaviest)), widths)


# Intervals as unit/test_plot has them for `gess plot`: the page must show the same.
INTERVALS = [((0.9, 1.0, 1.2), "1.00 +0.20 −0.10"), ((1.18, 1.234, 1.288), "1.234 ± 0.054"), ((-3.1, -2.0, 1.0), "−2.0 +3.0 −1.1"), ((2.0, 2.0, 2.0), "2"),
             ((1.9e7, 2.0e7, 2.2e7), "(2.00 +0.20 −0.10)×10⁷"), ((2.1e-7, 3.0e-7, 3.9e-7), "(3.00 ± 0.90)×10⁻⁷"), ((-2e7, 0.0, 2e7), "(0.0 ± 2.0)×10⁷"),
             ((2459123.4439, 2459123.4567, 2459123.4695), "2459123.457 ± 0.013"), ((-1e12 - 3.0, -1e12, -1e12 + 2.0), "−1000000000000.0 +2.0 −3.0"), ((123406.0, 123456.0, 123506.0), "123456 ± 50")]


def check_numbers(name, page):
    """Numbers that are hard to write; a curve that follows separate values; R-hat in view whatever the numbers are."""
    for numbers, text in INTERVALS:
        got = page.run(f"GessFigures.intervalLine(GessFigures.intervalText(...{json.dumps(numbers)}))")
        check(f"{name}: the interval of {numbers}", got == text, got)
    columns = page.run("Object.fromEntries([...document.querySelectorAll('#table tbody tr')].map(r => [r.children[0].textContent, r.children[4].textContent]))")
    check(f"{name}: a mean with the digits that its deviation calls for", columns["far from 0"].startswith(("1000000000.00", "999999999.99")), columns)
    text = page.run("gessReport.resultText('text')")
    check(f"{name}: a power of ten beside each copied number", any(line.startswith("huge\t") and line.count("e30") == 3 for line in text.splitlines()), text)
    d = page.run("(() => { const d = gessReport.data.plots.find(p => p.name === 'two modes').density; return [d.lo, d.hi, gessReport.unpack(d.counts), gessReport.unpack(d.curve)]; })()")
    (lo, hi, counts, curve), all_of = d, sum(d[2])
    apart = sum(abs(c / all_of - (curve[2 * i] + curve[2 * i + 1]) * (hi - lo) / len(curve)) for i, c in enumerate(counts))
    check(f"{name}: the curve of two modes has two peaks as narrow as theirs", apart < 0.5, apart)


class Runs:
    def __init__(self, gess, make, folder):
        self.gess, self.make, self.folder = gess, make, folder

    def command(self, *arguments):
        return subprocess.run([self.gess, *arguments], check=True, capture_output=True, text=True, cwd=self.folder).stdout

    def sampled(self, name, *arguments):
        self.command("sample", *arguments, "-q", "-o", name)
        return self.report(name)

    def made(self, kind, name=None):
        path = os.path.join(self.folder, name or kind)
        os.makedirs(path, exist_ok=True)
        subprocess.run([self.make, kind, path + "/draws.gess"], check=True)
        return path

    def report(self, name):
        self.command("report", name)
        path = os.path.join(self.folder, name, "report.html")
        size = os.path.getsize(path)
        print(f"{name}: {size / 1e6:.2f} MB", flush=True)
        check(f"{name}: below 5 MB", size < MAX_BYTES, size)
        return path


def unfold(page):
    page.run("new Promise(done => { const d = document.getElementById('sampler-more'); d.addEventListener('toggle', () => requestAnimationFrame(() => done(true))); d.open = true; })")


def check_sampled(runs, browser, pictures):
    path = runs.sampled("small", "german-credit", "--chains", "12", "--draws", "220", "--seed", "3", "--max-warmup-evals", "30000")
    runs.command("export", "small", "--to", "csv")
    summary = json.loads(runs.command("summary", "small", "--json"))
    page = Page(browser, path)
    clean("small", page)
    found = survey("small", page)
    check("small: the trace has a line for each chain and the spread", marks(found["trace"], "chain ") == [220] * 8 and len(found["trace"]["sets"]) == 11)
    check("small: histogram of 64 and curve of 128", marks(found["density"], "draws") == [64] and marks(found["density"], "density") == [128])
    check("small: ranks of 12 chains in 20 bins", marks(found["ranks"]) == [240])
    compare("small", page, read_csv(os.path.join(runs.folder, "small", "csv")))
    check_table("small", page, summary)
    check_results("small", page, summary, read_csv(os.path.join(runs.folder, "small", "csv")))
    check_corner("small", page)
    check_saved("small", page, ("forest", "corner", "traces", "trace", "density", "ranks"))
    check("small: what serves the sampler's authors is folded", not page.run("document.getElementById('sampler-more').open") and "angles" not in found)
    narrow = Page(browser, path, width=360, height=800)
    check_narrow("small", narrow)
    narrow.close()
    check("small: how many traces there are", "25 parameters and lp__" in page.run("document.querySelector('#traces-plots h3').textContent"))
    check("small: no table of modes", page.run("document.getElementById('modes').hidden"))
    before = page.run("document.documentElement.dataset.theme")
    page.run("document.getElementById('theme').click()")
    check("small: the theme changes", page.run("document.documentElement.dataset.theme") != before)
    survey("small dark", page)
    clean("small dark", page)
    page.run("localStorage.clear()")
    check("small: nothing fell out of the words of the verdict", page.run("document.querySelectorAll('#findings li').length") >= 1)
    shoot(browser, path, "small", pictures)
    page.close()


def check_history(runs, browser, pictures):
    folder = runs.made("four", "history")
    with open(folder + "/history.json", "w") as f:
        json.dump({**HISTORY, "modes": MODES}, f)
    page = Page(browser, runs.report("history"))
    unfold(page)
    found = survey("history", page)
    clean("history", page)
    check("history: evaluations per update", marks(found["evals"]) == [32] and "32 or more" not in found["evals"]["label"])
    check("history: angles", marks(found["angles"]) == [32])
    for id in ("nu", "sigma", "cost"):
        check(f"history: {id}, a line for each ensemble", marks(found[id]) == [7, 7], found[id])
    check("history: checks", marks(found["checks"]) == [2, 2])
    check("history: timing", marks(found["timing"]) == [2, 2] and "2 s in warm-up, 1 s in sampling" in found["timing"]["label"], found["timing"]["label"])
    check_modes("history", page, MODES)
    check("history: ranks of four chains are lines", marks(found["ranks"]) == [21] * 4)
    shoot(browser, os.path.join(folder, "report.html"), "history", pictures)
    page.close()


def check_odd(runs, browser, pictures):
    folder = runs.made("odd")
    with open(folder + "/config.json", "w") as f:
        json.dump({"model": "</script><script>alert(2)</script>", "options": {"seed": "<img src=x onerror=alert(3)>", "data": None}}, f)
    with open(folder + "/history.json", "w") as f:
        json.dump({"modes": [{"centre": [x] * 8, "sd": None, "weight": 0.5, "error": "<b>", "chains": None} for x in (1, 2)]}, f)
    page = Page(browser, runs.report("odd"))
    check("odd: names of the table of modes are text", page.run(MODE_ROWS)[0][4] == "</script><img src=x onerror=alert(1)>", page.run(MODE_ROWS))
    names = page.run("[...document.querySelectorAll('#table tbody th')].map(e => e.textContent)")
    for name in ("</script><img src=x onerror=alert(1)>", "</script x <!--<script ", "a&amp;b \"quoted\" 'single' \\back", "line\nbreak\ttab", "separator\u2028paragraph\u2029", "{{data}}", "__proto__", "漢字 🙂 θ₁"):
        check(f"odd: {name!r} is shown as text", name in names, names)
    check("odd: so is the model's name", page.run("document.getElementById('title').textContent") == "</script><script>alert(2)</script>")
    for i in range(page.run("gessReport.data.plots.length")):
        page.run(f"gessReport.choose({i})")
        name = page.run(f"gessReport.data.plots[{i}].name")
        survey(f"odd, {name!r}", page)
        figures = page.run("[...document.querySelectorAll('#parameter-plots figure')].map(f => f.querySelector('canvas') ? 'plot' : f.querySelector('.empty').textContent)")
        check(f"odd, {name!r}: five figures", len(figures) == 5, figures)
        said = {"constant": (1, "all draws are the same number"), "all NaN": (0, "no draw is a finite number"), "some NaN": (3, "some draws are not finite"), "some infinite": (3, "some draws are not finite")}.get(name, (5, ""))
        check(f"odd, {name!r}: what can be drawn is drawn", figures.count("plot") == said[0] and (said[0] == 5 or any(said[1] in f for f in figures)), figures)
    check_numbers("odd", page)
    narrow = Page(browser, os.path.join(folder, "report.html"), width=360, height=800)
    right = narrow.run("Math.max(...[...document.querySelectorAll('#results-table tbody tr')].map(r => r.children[2].getBoundingClientRect().right))")
    check("odd: R-hat is in view beside long numbers", right <= 360, right)
    narrow.close()
    page.run("gessReport.corner([0, 1, 3, 6, 10, 12, 13, 14])")
    check("odd: a corner of eight", page.run(f"({SHOWN})('#corner-plots')")["bad"] == 0)
    check_saved("odd", page, ("corner", "forest", "traces"))
    clean("odd", page)
    shoot(browser, os.path.join(folder, "report.html"), "odd", pictures)
    page.close()


def check_shapes(runs, browser, pictures):
    for kind, least in (("one", 5), ("short", 1), ("wide", 5), ("most", 5)):
        runs.made(kind)
        path = runs.report(kind)
        page = Page(browser, path)
        unfold(page)
        found = survey(kind, page)
        clean(kind, page)
        drawn = [i for i in found if i in ("trace", "density", "ranks", "acf", "growth")]
        check(f"{kind}: plots of the parameter", len(drawn) >= least, drawn)
        check(f"{kind}: no history is no fault", "no history.json" in page.run("document.getElementById('sampler-note').textContent"))
        options = page.run("document.getElementById('pick').options.length")
        check(f"{kind}: parameters to choose from", options == {"one": 4, "short": 3, "wide": 201, "most": 250}[kind], options)
        if kind in ("wide", "most"):
            page.run("gessReport.choose(gessReport.data.plots.length - 2); gessReport.corner([5, 150, 199])")
            survey(kind + ", others chosen", page)
            check(f"{kind}: others in the corner", page.run(f"({SHOWN})('#corner-plots')")["bad"] == 0)
        check(f"{kind}: rows of the table", page.run("document.querySelectorAll('#table tbody tr').length") == {"one": 4, "short": 3, "wide": 201, "most": 300}[kind])
        page.close()
        shoot(browser, path, kind, pictures)


def check_together(runs, browser, pictures):
    """Two runs on one page, with true values."""
    runs.sampled("one-a", "gaussian:dim=3", "--chains", "8", "--draws", "400", "--warmup", "50", "--seed", "1")
    runs.sampled("one-b", "gaussian:dim=4", "--chains", "8", "--draws", "300", "--warmup", "50", "--seed", "2")
    with open(os.path.join(runs.folder, "truth.csv"), "w") as out:
        out.write("x1, 0\nx2 = 0.5\n# none of x3\n")
    runs.command("report", "one-a", "one-b", "-o", "both.html", "--truth", "truth.csv", "--mean")
    path = os.path.join(runs.folder, "both.html")
    page = Page(browser, path)
    clean("both", page)
    heads = page.run("[...document.querySelectorAll('#results-table thead th')].map(e => e.textContent)")
    check("both: a column for each run", heads == ["parameter", "one-a", "one-b", "R-hat"], heads)
    rows = page.run("[...document.querySelectorAll('#runs-table tbody tr')].map(r => r.textContent)")
    check("both: the runs are listed", len(rows) == 2 and "8 × 400" in rows[0] and "8 × 300" in rows[1], rows)
    standing = page.run("document.getElementById('standing').textContent")
    bad = [name for name, row in zip(("one-a", "one-b"), rows) if "FAIL" in row]
    check("both: the page says which runs may be used", standing.startswith("Fail" if bad else "Pass") and all(name in standing for name in bad), standing)
    check("both: mean and sd as asked for", page.run("document.querySelector('input[value=mean]').checked"))
    truths = page.run("gessReport.data.plots.map(p => p.truth ?? null)")
    check("both: true values", truths[:3] == [0, 0.5, None], truths)
    check("both: contours of both runs", page.run("Object.keys(gessReport.drawings.get('corner').masses).length") == 12)
    check("both: true values are drawn", page.run("gessReport.drawings.get('corner').ops.filter(o => o.pen && o.pen.stroke === 'orange').length") >= 2 + 4)
    check_saved("both", page, ("corner", "forest"))
    page.close()
    shoot(browser, path, "both", pictures)


def check_circle(runs, browser, pictures):
    """A periodic parameter next to its seam: axes are centred on its mode, and its figures are circular."""
    folder = runs.made("circle")
    with open(folder + "/config.json", "w") as out:
        json.dump({"model": "./m.so", "title": "a circle", "dim": 3, "options": {}, "periodic": [{"parameter": 1, "lower": 0, "upper": 2 * math.pi}]}, out)
    with open(folder + "/summary.json", "w") as out:
        json.dump({"stop_rhat": 1.00824, "seconds": 0.25, "evals": 12345}, out)
    path = runs.report("circle")
    page = Page(browser, path)
    survey("circle", page)
    clean("circle", page)
    summary = json.loads(runs.command("summary", "circle", "--json"))
    check_table("circle", page, summary)
    angle = summary["parameters"][0]
    check("circle: circular figures", angle["circular"] and abs(angle["mean"] - 0.105) < 0.02 and abs(angle["sd"] - 0.0935) < 0.01, angle)
    density = page.run("gessReport.data.plots.find(p => p.name === 'x1').density")
    middle = (density["lo"] + density["hi"]) / 2
    check("circle: the axis is centred on the mode", abs(middle - 0.105) < 0.15 and density["hi"] - density["lo"] < 1.2, density)
    for part in ("trace.values", "sample"):
        packed = page.run(f"gessReport.data.plots.find(p => p.name === 'x1').{part}")
        check(f"circle: {part} is not cut in two", -0.8 < packed["lo"] < 0 and 0 < packed["hi"] < 1, packed)
    check("circle: the results say so", page.run("document.querySelector('#results-table .tag').textContent") == "periodic")
    check("circle: the corner shows one piece", page.run("(() => { gessReport.corner([0, 1]); return gessReport.drawings.get('corner').masses['1-0-0-0'].lines.length; })()") == 1)
    check("circle: it says so", "Periodic: x1;" in page.run("document.getElementById('table-note').textContent"))
    about = page.run("Object.fromEntries([...document.querySelectorAll('#options div')].map(e => [...e.children].map(c => c.textContent)))")
    check("circle: what is told of the run", about.get("stop rhat") == "1.0082" and about.get("evals") == "12,345", about)
    check("circle: the model's own title", page.run("document.getElementById('title').textContent") == "a circle")
    page.close()
    shoot(browser, path, "circle", pictures)


def shoot(browser, path, name, pictures):
    """On a phone nothing is wider than the screen, in either colours."""
    for width in (360, 1280) if pictures else (360,):
        for dark in (False, True):
            page = Page(browser, path, width=width, height=800, dark=dark)
            clean(f"{name}, {width} wide{', dark' if dark else ''}", page)
            survey(f"{name}, {width} wide", page)
            check(f"{name}: heeds what the system says of colours", page.run("document.documentElement.dataset.theme") == ("dark" if dark else "light"))
            if pictures:
                page.screenshot(f"{pictures}/{name}-{width}-{'dark' if dark else 'light'}.png")
            page.close()


def main():
    gess, make = map(os.path.abspath, sys.argv[1:3])
    rest = sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(gess, make, folder)
        if rest == ["--large"]:
            runs.made("large")
            runs.report("large")
        else:
            browser = Browser()
            try:
                pictures = rest[0] if rest else None
                check_sampled(runs, browser, pictures)
                check_history(runs, browser, pictures)
                check_odd(runs, browser, pictures)
                check_shapes(runs, browser, pictures)
                check_together(runs, browser, pictures)
                check_circle(runs, browser, pictures)
            finally:
                browser.close()
    print(f"{len(failures)} checks failed" if failures else "every check passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
