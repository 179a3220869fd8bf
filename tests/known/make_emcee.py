"""Writes diagnose_emcee.csv: emcee 3.1.6's integrated autocorrelation times of the inputs of
diagnose_coda.csv, which diagnose_input.h makes again. Run in this folder: python3 make_emcee.py"""
import csv
import math
import warnings

import emcee
import numpy as np

assert emcee.__version__ == "3.1.6"
warnings.simplefilter("ignore")


def series(kind, chains, n, phi, seed):
    state, x = seed, np.zeros((n, chains))
    for c in range(chains):
        value = 0.0
        for i in range(n):
            noise = 0.0
            for _ in range(4):
                state = state * 16807 % 2147483647
                noise += state / 2147483647.0
            noise -= 2.0
            value = phi * value + noise
            out = {"ties": math.floor(value * 2.0), "binary": float(value > 0.3), "constant": 3.25,
                   "levels": (c + 1.0) * (c + 1.0), "line": 0.5 * (i + 1) + (c + 1), "trend": value + 0.01 * (i + 1),
                   "offset": value + 0.5 * (c + 1), "scaled": value * (c + 1), "heavy": value / (0.01 + noise * noise),
                   "stuck": 0.125 if c == 0 else value}
            x[i, c] = out.get(kind, value)
    return x


kinds = {"ar", "ties", "binary", "constant", "levels", "line", "trend", "offset", "scaled", "heavy", "stuck"}
with open("diagnose_coda.csv") as cases, open("diagnose_emcee.csv", "w") as out:
    print("kind,chains,n,strength,seed,time", file=out)
    for row in csv.DictReader(cases):
        chains, n = int(row["chains"]), int(row["n"])
        if row["kind"] not in kinds or n < 2:
            continue
        x = series(row["kind"], chains, n, float(row["strength"]), int(row["seed"]))
        time = emcee.autocorr.integrated_time(x[:, :, None], c=5, quiet=True)[0]
        print(row["kind"], chains, n, row["strength"], row["seed"], "NA" if math.isnan(time) else f"{time:.13g}", sep=",",
              file=out)
