#!/usr/bin/env python3
"""The coverage of the log evidence's intervals: densities with known integrals, many seeds each.

    study.py [--gess build/gess] [--seeds 50] [--first 1] [--only NAMES] [--runs FOLDER] [--check] [-o results/coverage.json]
    study.py --posteriors [--seeds 5] [--first 1]    real posteriors: errors, evaluations, and the spread over seeds

Every run is `gess sample MODEL --seed S` with default options but one thread, which changes no draw, then `gess evidence`.
Results are appended to the file as they come, so that an interrupted study goes on. With --runs, run directories are kept
in FOLDER and those that are there are not sampled again. --check exits with 1 unless the requirements hold: the 95 %
interval covers in 92 to 98 % of all runs, in no density below 80 %, and the mean error is within 3 of its standard errors
in each density. A refusal counts as an interval that does not cover. With fewer than 50 seeds, --check asks for what so
few can tell: that no coverage is below the binomial 0.1 % quantile of 92 %, or of 80 % in one density.
"""
import argparse
import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def shells_integral():
    """log of twice ∫ 4π ρ² N(ρ; 2, 0.1) dρ = 2 · 4π (2² + 0.1²); what is cut off at ρ = 0 is nothing."""
    return math.log(2 * 4 * math.pi * (4 + 0.01))


def schools_evidence():
    """log of the evidence of eight schools: the effects and mu integrated by hand, tau by the trapezium rule in log tau."""
    effects = (28, 8, -3, 7, -1, 1, 18, 12)
    errors = (15, 10, 16, 11, 9, 11, 10, 18)
    total, step = 0.0, 0.001
    for i in range(-14000, 14001):
        tau = math.exp(i * step)
        variances = [tau * tau + s * s for s in errors]
        precision = 1 / 25 + sum(1 / v for v in variances)
        linear = sum(y / v for y, v in zip(effects, variances))
        square = sum(y * y / v for y, v in zip(effects, variances)) - linear * linear / precision
        logs = sum(math.log(2 * math.pi * v) for v in variances) + math.log(25 * precision)
        total += math.exp(-0.5 * (square + logs)) * 2 / (math.pi * 5 * (1 + (tau / 5) ** 2)) * tau * step
    return math.log(total)


# name: (model, or None for a density of densities.c; log of the integral)
DENSITIES = {
    "funnel": ("funnel", 0.0),
    "banana": ("banana", 0.0),
    "near": ("mixture", 0.0),
    "far": (None, 0.0),
    "wishart": ("wishart", 0.0),
    "t": ("student-t:dim=20,nu=3", 0.0),
    "shells": (None, shells_integral()),
    "loggamma": (None, 0.0),
    "bounded": (None, 0.0),
    "periodic": (None, 0.0),
}


def build(name, folder):
    path = os.path.join(folder, f"{name}.so")
    include = os.path.join(HERE, "..", "..", "include")
    subprocess.run(["cc", "-O2", "-std=c17", "-shared", "-fPIC", f"-DDENSITY_{name}", f"-I{include}", "-o", path,
                    os.path.join(HERE, "densities.c"), "-lm"], check=True)
    return path


def one(gess, name, model, seed, folder, keep):
    run = os.path.join(folder, f"{name}-{seed}" if keep else "run")
    if not keep:
        shutil.rmtree(run, ignore_errors=True)
    if not os.path.exists(os.path.join(run, "summary.json")):
        sample = subprocess.run([gess, "sample", model, "-o", run, "-q", "--overwrite", "--seed", str(seed), "--threads", "1"],
                                capture_output=True, text=True)
        if sample.returncode != 0:
            return {"failed": sample.stderr.strip()}
    out = subprocess.run([gess, "evidence", run, "--json"], capture_output=True, text=True)
    if out.returncode not in (0, 6):
        return {"failed": out.stderr.strip()}
    e = json.loads(out.stdout)
    with open(os.path.join(run, "summary.json"), encoding="utf-8") as file:
        evals = json.load(file)["evals"]
    return {"log_evidence": e["log_evidence"], "se": e["se"], "evals": e["evals"], "run_evals": evals,
            "k_hat": e["second"]["k_hat"], "second": e["second"]["log_evidence"], "second_se": e["second"]["se"],
            "refitted": e["refitted"], "reasons": [r["code"] for r in e["reasons"]]}


def lowest(n, p):
    """The 0.1 % quantile of a binomial."""
    total = 0.0
    for k in range(n + 1):
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        if total > 0.001:
            return k
    return n


def judge(results, seeds):
    """Prints the table; returns whether the requirements hold."""
    good, runs, covered = True, 0, 0
    print("| density | runs | refused | covered | mean error | its se | rms error | mean se | mean evals |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, rows in results.items():
        truth = DENSITIES[name][1]
        known = [r for r in rows.values() if r.get("log_evidence") is not None]
        errors = [r["log_evidence"] - truth for r in known]
        inside = sum(abs(e) <= 1.96 * r["se"] for e, r in zip(errors, known))
        n = len(known)
        mean = sum(errors) / n if n else math.nan
        sd = math.sqrt(sum((e - mean) ** 2 for e in errors) / max(n - 1, 1)) if n else math.nan
        rms = math.sqrt(sum(e * e for e in errors) / n) if n else math.nan
        se = sum(r["se"] for r in known) / n if n else math.nan
        evals = sum(r["evals"] for r in known) / n if n else math.nan
        runs += len(rows)
        covered += inside
        print(f"| {name} | {len(rows)} | {len(rows) - n} | {100 * inside / len(rows):.0f} % | {mean:+.5f} | "
              f"{sd / math.sqrt(max(n, 1)):.5f} | {rms:.5f} | {se:.5f} | {evals:.0f} |")
        good &= inside >= (0.8 * len(rows) if seeds >= 50 else lowest(len(rows), 0.8))
        good &= n > 0 and abs(mean) <= 3 * sd / math.sqrt(n) + 1e-9
    print(f"\n{covered} of {runs} intervals cover: {100 * covered / runs:.1f} %")
    return good and (0.92 <= covered / runs <= 0.98 if seeds >= 50 else covered >= lowest(runs, 0.92))


@contextlib.contextmanager
def folder_of(keep):
    """The folder of the runs: the one that is kept, or a temporary one."""
    if keep:
        os.makedirs(keep, exist_ok=True)
        yield os.path.abspath(keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def posteriors(gess, seeds, first, keep):
    """Prints, per posterior, the largest standard error and number of evaluations, and how estimates differ."""
    print("| posterior | truth | seeds | refused | mean | sd over seeds | mean se | largest se | largest evals | evals of a run |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    good = True
    with folder_of(keep) as folder:
        for name in ("german-credit", "breast-cancer", "eight-schools", "eight-schools:centred=0"):
            rows = [one(gess, name, name, seed, folder, keep) for seed in range(first, first + seeds)]
            known = [r for r in rows if r.get("log_evidence") is not None]
            values, ses = [r["log_evidence"] for r in known], [r["se"] for r in known]
            mean = sum(values) / len(values)
            sd = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1))
            most = max(r["evals"] for r in known)
            truth = f"{schools_evidence():.4f}" if name.startswith("eight") else ""
            print(f"| {name} | {truth} | {seeds} | {seeds - len(known)} | {mean:.4f} | {sd:.4f} | {sum(ses) / len(ses):.4f} | "
                  f"{max(ses):.4f} | {most} | {sum(r['run_evals'] for r in known) / len(known):.0f} |", flush=True)
            good &= len(known) == seeds and max(ses) <= 0.02 and most <= 5000
    return good


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gess", default="build/gess")
    p.add_argument("--seeds", type=int, default=50)
    p.add_argument("--first", type=int, default=1, help="the first seed")
    p.add_argument("--only", default=",".join(DENSITIES))
    p.add_argument("--runs", metavar="FOLDER", help="keep the runs there")
    p.add_argument("--check", action="store_true")
    p.add_argument("--posteriors", action="store_true")
    p.add_argument("-o", "--output")
    a = p.parse_args()
    if a.posteriors:
        good = posteriors(a.gess, a.seeds, a.first, a.runs)
        sys.exit(0 if good or not a.check else "the requirements do not hold")
    results = {}
    if a.output and os.path.exists(a.output):
        with open(a.output, encoding="utf-8") as file:
            results = json.load(file)
    with folder_of(a.runs) as folder:
        for name in a.only.split(","):
            model = DENSITIES[name][0] or build(name, folder)
            rows = results.setdefault(name, {})
            for seed in range(a.first, a.first + a.seeds):
                if str(seed) in rows:
                    continue
                rows[str(seed)] = one(a.gess, name, model, seed, folder, a.runs)
                if "failed" in rows[str(seed)]:
                    sys.exit(f"{name}, seed {seed}: {rows[str(seed)]['failed']}")
                if a.output:
                    with open(a.output + ".tmp", "w", encoding="utf-8") as file:
                        json.dump(results, file, indent=1)
                    os.replace(a.output + ".tmp", a.output)
    good = judge({k: v for k, v in results.items() if k in a.only.split(",")}, a.seeds)
    if a.check and not good:
        sys.exit("the requirements do not hold")


if __name__ == "__main__":
    main()
