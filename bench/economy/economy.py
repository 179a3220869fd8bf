#!/usr/bin/env python3
"""Evaluations in all until the targets are met, over seeds, and how right the answers are.

    economy.py [--gess build/gess] [--set models|tune|report] [--seeds 20] [--first 1] [--only NAMES] [--jobs 1]
               [--options "--max-warmup-evals 10000"] [--runs FOLDER] [--check] [-o results/models.json]
    economy.py reference [--set ...] [--only NAMES]     long runs that errors are measured against

Every run is `gess sample MODEL --seed S` with default options but one thread, which changes no draw. Per run: evaluations,
those of sampling, worst R-hat of chains and of groups, verdict, commitments to a T that were taken back, and for mean, q5,
q50 and q95 the largest error in standard errors (of the run and of the reference together). Results are written as they
come, so that an interrupted measurement goes on; with --runs, run directories are kept there and not sampled again.

Sets: `models`, the built-in ones and a regression with 3 parameters; `tune` and `report`, posteriors of generated data
(posteriors.c): constants of gess are chosen on the first, and figures are given for the second.

References are exact for `gaussian`, `funnel` and `mixture`; otherwise they come from `economy.py reference`, two ensembles
with an effective size of 20,000 each, in results/reference.json.

--check exits with 1 if a median, a spread (19 of 20 within three times the figure), an error above 4.5 or a verdict that is
not PASS is not as the table of MODELS wants it.
"""
import argparse
import concurrent.futures
import json
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FIGURES = ("mean", "q5", "q50", "q95")
LIMIT = 4.5

# name: median of evaluations in all that is aimed at
MODELS = {"regression-3-1": 6000, "gaussian:dim=10": 6000, "wishart:dim=50": 12000, "german-credit": 20000,
          "mixture": 20000, "eight-schools:centred=0": 20000, "funnel": 30000, "eight-schools": 40000, "seeds": 100000,
          "rats": 100000, "breast-cancer": 150000, "stochastic-volatility": 250000, "snp": 1000000}
# family-size-seed
TUNE = ["regression-3-1", "regression-20-2", "robust-6-3", "logistic-5-4", "logistic-40-5", "logistic-100-6", "poisson-8-7",
        "hierarchy-12-9", "hierarchy-52-10", "counts-23-11", "ode-4-12", "ode-8-13", "gp-3-14", "gp-6-15"]
REPORT = ["regression-4-101", "regression-30-102", "regression-90-103", "robust-10-104", "logistic-9-105", "logistic-60-106",
          "poisson-15-107", "hierarchy-20-108", "hierarchy-20-109", "hierarchy-80-110", "counts-13-111", "counts-43-112",
          "ode-4-113", "ode-8-114", "gp-4-115", "gp-5-116"]
SETS = {"models": MODELS, "tune": dict.fromkeys(TUNE), "report": dict.fromkeys(REPORT)}
FAMILIES = {name.split("-")[0] for name in TUNE + REPORT}


def model_of(name, folder):
    """The specification of a model; a generated one is compiled first."""
    parts = name.split("-")
    if parts[0] not in FAMILIES or len(parts) != 3:
        return name
    path = os.path.join(folder, f"{name}.so")
    if not os.path.exists(path):
        subprocess.run(["cc", "-O2", "-std=c17", "-shared", "-fPIC", f"-DFAMILY_{parts[0]}", f"-DSIZE={parts[1]}",
                        f"-DSEED={parts[2]}", f"-I{ROOT}/include", "-o", path, os.path.join(HERE, "posteriors.c"), "-lm"],
                       check=True)
    return path


# ---- what is exact ----

NORMAL = statistics.NormalDist()


def quantile(cdf, p, low=-1e3, high=1e3):
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if cdf(middle) < p else (low, middle)
    return 0.5 * (low + high)


def exact(name):
    """Mean, q5, q50 and q95 of every parameter, or None."""
    if name == "gaussian:dim=10":
        return [[0.0] + [NORMAL.inv_cdf(p) for p in (0.05, 0.5, 0.95)]] * 10
    if name == "mixture":
        with open(os.path.join(ROOT, "data", "mixture_means.csv"), encoding="utf-8") as file:
            rows = [[float(v) for v in line.split(",")] for line in file if line[0] in "-0123456789"]
        answer = []
        for column in zip(*rows):
            def cdf(x, column=column):
                return sum(NORMAL.cdf(x - m) for m in column) / len(column)
            answer.append([sum(column) / len(column)] + [quantile(cdf, p) for p in (0.05, 0.5, 0.95)])
        return answer
    if name == "funnel":
        grid = [-8.0 + 16.0 * (i + 0.5) / 4000 for i in range(4000)]
        weight = [NORMAL.pdf(z) * 16.0 / 4000 for z in grid]

        def marginal(x):
            return sum(w * NORMAL.cdf(x * math.exp(-1.5 * z)) for z, w in zip(grid, weight))
        q = quantile(marginal, 0.95)
        return [[0.0] + [3.0 * NORMAL.inv_cdf(p) for p in (0.05, 0.5, 0.95)]] + [[0.0, -q, 0.0, q]] * 9
    return None


# ---- runs ----

def sample(gess, model, seed, run, options):
    if os.path.exists(os.path.join(run, "summary.json")):
        return None
    out = subprocess.run([gess, "sample", model, "-o", run, "-q", "--overwrite", "--seed", str(seed), "--threads", "1",
                          *options], capture_output=True, text=True)
    return None if out.returncode == 0 else out.stderr.strip() or f"exit status {out.returncode}"


def summary(gess, run):
    out = subprocess.run([gess, "summary", run, "--all", "--json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def worst(values):
    return max((v for v in values if v is not None), default=None)


def standard_error(parameter, reference, k):
    """Of figure k of a parameter, of run and reference together. A run's own estimate for a quantile is noisy, so it counts
    at least as much as that of the mean times the ratio of the two in the reference."""
    own, mean = parameter[f"mcse_{FIGURES[k]}"], parameter["mcse_mean"]
    other = reference[len(FIGURES):] if len(reference) > len(FIGURES) else [0.0] * len(FIGURES)
    if own is None or other[k] is None:
        return None
    if mean is not None and other[0]:
        own = max(own, mean * other[k] / other[0])
    return math.hypot(own, other[k])


def errors(parameters, reference):
    """The largest error of each figure, in standard errors; without lp__ and derived quantities."""
    answer = {}
    for k, figure in enumerate(FIGURES):
        zs = []
        for p, r in zip(parameters, reference):
            se = standard_error(p, r, k)
            if None not in (p[figure], r[k], se):  # a heavy tail has no mean
                zs.append(abs(p[figure] - r[k]) / se)
        answer[figure] = round(max(zs), 2) if zs else None
    return answer


def one(gess, name, model, seed, folder, options, reference):
    run = os.path.join(folder, f"{name}-{seed}")
    failed = sample(gess, model, seed, run, options)
    if failed:
        return {"failed": failed}
    s = summary(gess, run)
    verdict = subprocess.run([gess, "diagnose", run], capture_output=True, text=True).stdout.splitlines()
    with open(os.path.join(run, "log.txt"), encoding="utf-8") as file:
        log = file.read()
    result = {"evals": s["evals"], "sampling": s["evals_sampling"], "targets_met": s["targets_met"],
              "r_hat": worst(p["r_hat"] for p in s["parameters"]),
              "r_hat_nested": worst(p["r_hat_nested"] for p in s["parameters"]),
              "pass": bool(verdict) and verdict[0].startswith("PASS"), "verdict": verdict[0] if verdict else "",
              "given_up": log.count("T disappoints")}
    if reference:
        result["errors"] = errors(s["parameters"], reference)
    return result


def make_reference(gess, name, model, folder):
    run = os.path.join(folder, f"{name}-reference")
    failed = sample(gess, model, 1000, run, ["--ensembles", "2", "--chains", "128", "--target-ess", "40000",
                                             "--target-rhat", "1.005", "--max-evals", "100000000"])
    if failed:
        return failed
    s = summary(gess, run)
    if not s["targets_met"]:
        return "targets not met"
    return [[p[f] for f in FIGURES] + [p[f"mcse_{f}"] for f in FIGURES] for p in s["parameters"] if p["name"] != "lp__"]


# ---- the table ----

def row_of(name, bound, seeds):
    done = [r for r in seeds.values() if "failed" not in r]
    evals = sorted(r["evals"] for r in done)
    if not evals:
        return None
    worst_error = {f: worst(r["errors"][f] for r in done if "errors" in r) for f in FIGURES}
    return {"name": name, "goal": bound, "runs": len(seeds), "median": statistics.median(evals),
            "nineteenth": evals[math.ceil(0.95 * len(evals)) - 1], "largest": evals[-1],
            "sampling": statistics.median(r["sampling"] for r in done),
            "r_hat": max(r["r_hat"] for r in done), "r_hat_nested": worst(r["r_hat_nested"] for r in done),
            "pass": sum(r["pass"] for r in done), "given_up": sum(r["given_up"] for r in done), "errors": worst_error}


def print_table(rows):
    print("| model | goal | median | 19th of 20 | largest | of sampling | R-hat | nested | PASS | given up "
          "| mean | q5 | q50 | q95 |\n" + "|---" * 14 + "|")
    for r in rows:
        e = [("%.1f" % r["errors"][f]) if r["errors"][f] is not None else "" for f in FIGURES]
        nested = "%.3f" % r["r_hat_nested"] if r["r_hat_nested"] else ""
        print(f"| `{r['name']}` | {r['goal'] or ''} | {r['median']:.0f} | {r['nineteenth']} | {r['largest']} "
              f"| {r['sampling']:.0f} | {r['r_hat']:.3f} | {nested} | {r['pass']} of {r['runs']} | {r['given_up']} | "
              + " | ".join(e) + " |")
    if len(rows) > 1:
        print(f"median of the medians: {statistics.median(r['median'] for r in rows):.0f}")


def faults(r):
    if r["goal"] and r["median"] > r["goal"]:
        yield f"{r['name']}: median {r['median']:.0f}, {r['goal']} wanted"
    if r["goal"] and r["nineteenth"] > 3 * r["goal"]:
        yield f"{r['name']}: 19 of 20 within {r['nineteenth']}, {3 * r['goal']} wanted"
    if r["pass"] < r["runs"]:
        yield f"{r['name']}: {r['runs'] - r['pass']} runs are not PASS"
    for figure, error in r["errors"].items():
        if error is not None and error > LIMIT:
            yield f"{r['name']}: {figure} is off by {error} standard errors"


def write(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def references(arguments, names, folder):
    path = os.path.join(HERE, "results", "reference.json")
    for name in names:
        known = load(path)
        if name in known or exact(name):
            continue
        found = make_reference(arguments.gess, name, model_of(name, folder), folder)
        print(name, found if isinstance(found, str) else "done", flush=True)
        if not isinstance(found, str):
            write(path, {**load(path), name: found})


def measure(arguments, names, folder):
    known = load(os.path.join(HERE, "results", "reference.json"))
    old = load(arguments.output) if arguments.output else {}
    runs = old.get("runs", {})
    options = shlex.split(arguments.options)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = {}
        for name in names:
            model, reference = model_of(name, folder), exact(name) or known.get(name)
            for seed in range(arguments.first, arguments.first + arguments.seeds):
                if str(seed) not in runs.get(name, {}):
                    waiting[pool.submit(one, arguments.gess, name, model, seed, folder, options, reference)] = name, seed
        for job in concurrent.futures.as_completed(waiting):
            name, seed = waiting[job]
            runs.setdefault(name, {})[str(seed)] = job.result()
            if arguments.output:
                write(arguments.output, {"command": " ".join(sys.argv), "runs": runs})
    return [row for row in (row_of(n, SETS[arguments.set][n], runs[n]) for n in names) if row]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="measure", choices=["measure", "reference"])
    parser.add_argument("--gess", default=os.path.join(ROOT, "build", "gess"))
    parser.add_argument("--set", default="models", choices=sorted(SETS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--options", default="", help="of gess sample, beside the defaults")
    parser.add_argument("--runs", help="folder in which runs are kept")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(SETS[arguments.set])
    folder = arguments.runs or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    try:
        if arguments.what == "reference":
            references(arguments, names, folder)
            return 0
        rows = measure(arguments, names, folder)
    finally:
        if not arguments.runs:
            shutil.rmtree(folder)
    print_table(rows)
    bad = [line for row in rows for line in faults(row)]
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if arguments.check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
