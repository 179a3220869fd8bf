#!/usr/bin/env python3
"""How right the standard errors of short runs are, for a scale with heavy tails whose posterior is known.

    coverage.py [--gess build/gess] [--model eight-schools:centred=0] [--seeds 150] [--first 1] [--draws N]

Every run is `gess sample MODEL --seed S` with default options; with --draws it is continued by `gess resume --draws N`.
The errors of mean, sd, q5 and q95, of tau for eight-schools (by quadrature) and of v for funnel (exact), are taken in the
standard errors that the summary gives. Printed per figure: the share of runs within 1.96 of them, the mean, the root mean
square and the largest; then the runs with an error above 4.5 and their verdict.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile

TAIL = 3.0 * statistics.NormalDist().inv_cdf(0.95)
SCHOOLS = ("tau", {"mean": 3.5977, "sd": 3.2200, "q5": 0.2463, "q95": 9.8439})
TRUTH = {"eight-schools": SCHOOLS, "eight-schools:centred=0": SCHOOLS,
         "funnel": ("v", {"mean": 0.0, "sd": 3.0, "q5": -TAIL, "q95": TAIL})}
LIMIT = 4.5


def one(gess, model, seed, draws, folder):
    """Errors in standard errors, evaluations in all and of sampling, and whether the verdict is PASS."""
    run = os.path.join(folder, "run")
    subprocess.run([gess, "sample", model, "--seed", str(seed), "-q", "--overwrite", "-o", run], check=True,
                   capture_output=True)
    if draws:
        subprocess.run([gess, "resume", run, "--draws", str(draws), "-q"], check=True, capture_output=True)
    summary = json.loads(subprocess.run([gess, "summary", run, "--json"], check=True, capture_output=True).stdout)
    passed = subprocess.run([gess, "diagnose", run], capture_output=True).returncode == 0
    name, truth = TRUTH[model]
    figures = next(p for p in summary["parameters"] if p["name"] == name)
    errors = {f: (figures[f] - truth[f]) / figures["mcse_" + f] for f in truth}
    return {"seed": seed, "errors": errors, "evals": summary["evals"], "sampling": summary["evals_sampling"], "pass": passed}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gess", default="build/gess")
    p.add_argument("--model", default="eight-schools:centred=0", choices=sorted(TRUTH))
    p.add_argument("--seeds", type=int, default=150)
    p.add_argument("--first", type=int, default=1, help="the first seed")
    p.add_argument("--draws", type=int, help="continue every run to so many draws per chain")
    a = p.parse_args()
    gess = os.path.abspath(a.gess)
    with tempfile.TemporaryDirectory() as folder:
        rows = [one(gess, a.model, seed, a.draws, folder) for seed in range(a.first, a.first + a.seeds)]
    print(f"{a.model}, {len(rows)} runs: evaluations {statistics.median(r['evals'] for r in rows):.0f} (median), "
          f"{max(r['evals'] for r in rows)} (largest); of sampling {statistics.median(r['sampling'] for r in rows):.0f}\n")
    print("| figure | cover | mean | root mean square | largest |\n|---|---|---|---|---|")
    for figure in TRUTH[a.model][1]:
        errors = [r["errors"][figure] for r in rows]
        cover = sum(abs(e) < 1.96 for e in errors) / len(errors)
        print(f"| {figure} | {100 * cover:.0f} % | {statistics.mean(errors):+.2f} | "
              f"{math.sqrt(statistics.mean(e * e for e in errors)):.2f} | {max(map(abs, errors)):.1f} |")
    for r in rows:
        far = {f: round(e, 1) for f, e in r["errors"].items() if abs(e) > LIMIT}
        if far:
            print(f"seed {r['seed']}: {far}, {'PASS' if r['pass'] else 'not PASS'}")


if __name__ == "__main__":
    main()
