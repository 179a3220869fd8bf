#!/usr/bin/env python3
"""Compares the CPU time of whole runs of two builds of gess.

    builds.py BEFORE AFTER [--threads N] [--seeds N] [--draws N] [--warmup N] [--models NAME,...]

BEFORE and AFTER are two commands `gess`. Every model is sampled by both in turn, in alternating order, for the same
numbers of iterations, so that a busy machine slows both. Prints the ratio AFTER / BEFORE of the CPU seconds of the
process (user time) and of the evaluations, by model and as geometric means. Where draws differ between the builds,
evaluations do as well: compare the third column then, CPU seconds per evaluation.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import tempfile

MODELS = (
    "funnel,mixture,breast-cancer,german-credit,stochastic-volatility,snp,wishart:dim=50,eight-schools,rats,seeds,"
    "gaussian:dim=50,banana,student-t:dim=10"
)


def run(gess, model, seed, options):
    """CPU seconds and evaluations of one run."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        command = [gess, "sample", model, "--seed", str(seed), "--quiet", "-o", folder + "/run"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command + options, env=environment, stdout=subprocess.DEVNULL, check=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        with open(folder + "/run/summary.json") as file:
            return seconds, json.load(file)["evals"]


def main():
    parser = argparse.ArgumentParser(description="CPU time of whole runs of two builds of gess")
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--warmup", default="1000")
    parser.add_argument("--draws", default="1000")
    parser.add_argument("--models", default=MODELS)
    given = parser.parse_args()
    options = ["--threads", given.threads, "--warmup", given.warmup, "--draws", given.draws]
    logs = [0.0, 0.0]
    models = given.models.split(",")
    print("%-24s %10s %12s %18s" % ("", "seconds", "evaluations", "seconds per eval."))
    for model in models:
        total = {given.before: [0.0, 0], given.after: [0.0, 0]}
        for seed in range(1, given.seeds + 1):
            order = [given.before, given.after] if seed % 2 else [given.after, given.before]
            for gess in order:
                seconds, evals = run(gess, model, seed, options)
                total[gess][0] += seconds
                total[gess][1] += evals
        seconds = total[given.after][0] / total[given.before][0]
        evals = total[given.after][1] / total[given.before][1]
        logs[0] += math.log(seconds)
        logs[1] += math.log(seconds / evals)
        print("%-24s %10.3f %12.3f %18.3f" % (model, seconds, evals, seconds / evals), flush=True)
    means = [math.exp(x / len(models)) for x in logs]
    print("%-24s %10.3f %12s %18.3f" % ("geometric mean", means[0], "", means[1]))


if __name__ == "__main__":
    main()
