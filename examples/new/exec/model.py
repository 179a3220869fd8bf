"""@NAME@: a straight line through points with noise of unknown size,

  y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.

A program that gess starts, once per thread. It reads points from standard input and writes their log densities to
standard output, where nothing else may go: messages belong on standard error. The protocol is the same in any language;
examples/exec of gess has it in R, Julia, Perl and shell, and as doubles instead of text. What to change for a density of
your own: the data, the greeting, log_posterior()."""
import csv
import math
import os
import sys


def read_data():
    """The file of --data: two columns, x and y, with a header."""
    with open(os.environ.get("GESS_MODEL_DATA", "data.csv"), newline="") as file:
        return [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]


def log_posterior(points, intercept, slope, sigma):
    """Log prior plus log likelihood, up to a constant. No Jacobian: gess adds its own for the bound of sigma."""
    if not sigma > 0:
        return -math.inf
    squares = sum((y - intercept - slope * x) ** 2 for x, y in points)
    likelihood = -len(points) * math.log(sigma) - 0.5 * squares / sigma ** 2
    prior = -0.5 * (intercept ** 2 + slope ** 2) / 10 ** 2 - sigma  # N(0, 10²) each; exponential of mean 1
    return likelihood + prior


def main():
    points = read_data()
    sys.stdin.readline()                                          # gess 1 ?
    print("ok 3 intercept slope sigma(0,inf)", flush=True)        # parameters: how many, names, bounds
    for line in sys.stdin:                                        # a batch: its number of points,
        for _ in range(int(line)):                                # then a line per point
            print(log_posterior(points, *map(float, sys.stdin.readline().split())))
        sys.stdout.flush()                                        # gess waits for the answers


main()
