"""Prints the reference values of test_circular.c and test_drift.c: scipy's circmean and circstd of draws made by a
fixed rule, and normal scores of Student's t. Needs numpy and scipy."""
import numpy as np
from scipy import stats

CASES = [(1000, 0.105, 0.05, 0.0, 2 * np.pi), (1000, 0.02, 0.1, -np.pi, np.pi), (500, 359.0, 20.0, 0.0, 360.0),
         (800, 23.9, 1.5, 0.0, 24.0), (1000, 1.0, 3.0, 0.0, 2 * np.pi), (300, 3.1415, 1e-5, -np.pi, np.pi)]


def draws(n, centre, spread, low, high):
    u = (np.arange(n) * 0.6180339887498949) % 1.0 - 0.5
    return low + np.mod(centre + spread * np.tan(2.0 * u) - low, high - low)


print("count, centre, spread, lower, upper: mean, sd, length")
for case in CASES:
    x, (low, high) = draws(*case), case[3:]
    length = abs(np.exp(2j * np.pi * (x - low) / (high - low)).mean())
    values = case + (stats.circmean(x, high=high, low=low), stats.circstd(x, high=high, low=low), length)
    print("    {%d, %.17g, %.17g, %.17g, %.17g, %.15g, %.15g, %.15g}," % values)

print("degrees of freedom, t, z")
for freedom in (1, 2, 3, 11, 49, 99, 999):
    for t in (-0.3, 1.5, 4.0, 9.4, 35.0):
        z = np.sign(t) * stats.norm.isf(stats.t.sf(abs(t), freedom))
        print("    {%d, %.1f, %.15g}," % (freedom, t, z))
