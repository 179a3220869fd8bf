"""A density for gess in Python: eight measurements, N(mu, sigma).

  gess sample 'exec:python3 model.py'"""
import math
import sys

y = [28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2]


def log_density(mu, sigma):
    if sigma <= 0:
        return -math.inf
    residuals = sum((value - mu) ** 2 for value in y)
    return -len(y) * math.log(sigma) - 0.5 * residuals / sigma ** 2 - sigma / 10  # exponential prior, mean 10


sys.stdin.readline()                        # gess 1 ?
print("ok 2 mu sigma(0,inf)", flush=True)   # two parameters, their names, and bounds

for line in sys.stdin:                      # a batch: its number of points,
    for _ in range(int(line)):              # then a line per point
        mu, sigma = map(float, sys.stdin.readline().split())
        print(repr(log_density(mu, sigma)))
    sys.stdout.flush()                      # gess waits for the answers
