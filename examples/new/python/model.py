"""@NAME@: a straight line through points with noise of unknown size,

  y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.

What to change for a density of your own: the data, names and bounds, log_posterior(). help(gess.sample) has the rest."""
import os

import gess
import numpy as np

folder = os.path.dirname(os.path.abspath(__file__))
x, y = np.loadtxt(os.path.join(folder, "data.csv"), delimiter=",", skiprows=1, unpack=True)


def log_posterior(p):
    """Log prior plus log likelihood of n points, an (n, 3) array. No Jacobian: gess adds its own for the bound."""
    intercept, slope, sigma = p.T
    squares = ((y - intercept[:, None] - slope[:, None] * x) ** 2).sum(axis=1)
    likelihood = -len(x) * np.log(sigma) - 0.5 * squares / sigma ** 2
    prior = -0.5 * (intercept ** 2 + slope ** 2) / 10 ** 2 - sigma  # N(0, 10²) each; exponential of mean 1
    return likelihood + prior


def main():
    result = gess.sample(log_posterior, vectorize=True, names=["intercept", "slope", "sigma"],
                         bounds={"sigma": (0, np.inf)})
    print(result.summary())
    print(result.diagnose())
    print("the line at x = 20:", np.mean(result["intercept"] + 20 * result["slope"]))


if __name__ == "__main__":
    main()
