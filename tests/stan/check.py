"""Compares the runs of stan.sh with the references: means, standard deviations, cost. Run in the folder of the runs."""
import json
import math
import re
import sys

LIMIT = 4.5  # combined standard errors
OVERHEAD = 1.05


def rows_of(path):
    summary = json.load(open(path))
    rows = {re.sub(r"[\[,]", ".", row["name"]).replace("]", ""): row for row in summary["parameters"]}
    return summary, {name: row for name, row in rows.items() if name != "lp__"}


def worst(rows, reference, figure):
    """The largest difference in standard errors, and where it is."""
    most = (0.0, "")
    for name, row in rows.items():
        other = reference.get(name)
        if other is None or row["sd"] is None or other["sd"] is None or row["sd"] == 0:
            continue
        error = math.hypot(row[f"mcse_{figure}"], other[f"mcse_{figure}"])
        most = max(most, (abs(row[figure] - other[figure]) / error, name))
    return most


def gradients(name):
    """Of warm-up and sampling, in all chains."""
    texts = [open(f"{name}-{chain}.txt").read().split() for chain in (1, 2, 3, 4)]
    return sum(float(t[1]) + float(t[3]) for t in texts)


def main():
    failed = False
    for name in ("eight_schools", "eight_schools_centred", "gp", "hmm", "hierarchical"):
        like = name.replace("_centred", "")
        summary, rows = rows_of(f"{name}.json")
        _, reference = rows_of(f"{like}-reference.json")
        common = sum(row in reference for row in rows)
        mean, sd = worst(rows, reference, "mean"), worst(rows, reference, "sd")
        ess = min(row["ess_bulk"] for row in rows.values() if row["ess_bulk"])
        nuts = min(row["ess_bulk"] for row in reference.values() if row["ess_bulk"])
        verdict = open(f"{name}.verdict").readline().strip()
        print(f"{name}: {common} quantities; means within {mean[0]:.2f} ({mean[1]}), sds within {sd[0]:.2f} ({sd[1]}) "
              f"standard errors; {summary['evals']} evaluations for a least ESS of {ess:.0f}, NUTS {gradients(like):.0f} "
              f"gradients for {nuts:.0f}; {verdict}")
        failed |= common < 3 or mean[0] > LIMIT or sd[0] > LIMIT
    for name in ("eight_schools", "gp", "hmm", "hierarchical"):
        text = open(f"{name}.overhead").read().strip()
        print(f"{name}: through gess {text}")
        failed |= float(text.split()[0]) > OVERHEAD
    return failed


sys.exit(main())
