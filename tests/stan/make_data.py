"""Simulates the data of gp, hmm and hierarchical: models/NAME.json. They are stored; this renews them."""
import json
import math
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent / "models"


def rounded(values):
    return [round(v, 4) for v in values]


def write(name, data):
    (FOLDER / f"{name}.json").write_text(json.dumps(data) + "\n")


def main():
    rng = random.Random(1)
    x = [i / 4 for i in range(25)]
    write("gp", {"N": 25, "x": x, "y": rounded(math.sin(1.3 * v) + 0.3 * rng.gauss(0, 1) for v in x)})
    state, y = 0, []
    for _ in range(120):
        state = state if rng.random() < 0.85 else 1 - state
        y.append((-1.0, 2.0)[state] + 0.9 * rng.gauss(0, 1))
    write("hmm", {"N": 120, "y": rounded(y)})
    groups, beta = 25, [0.5, -0.3, 0.0, 0.8, -1.0]
    effects = [(1 + 0.8 * rng.gauss(0, 1), -0.5 + 0.4 * rng.gauss(0, 1)) for _ in range(groups)]
    group = [1 + i % groups for i in range(250)]
    x = rounded(rng.gauss(0, 1) for _ in group)
    w = [rounded(rng.gauss(0, 1) for _ in beta) for _ in group]
    y = [effects[j - 1][0] + effects[j - 1][1] * v + sum(a * b for a, b in zip(row, beta)) + 0.7 * rng.gauss(0, 1)
         for j, v, row in zip(group, x, w)]
    write("hierarchical", {"N": 250, "J": groups, "group": group, "x": x, "w": w, "y": rounded(y)})


main()
