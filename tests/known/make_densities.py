"""Writes the known answers of test_densities.c.

    python3 make_densities.py FOLDER

FOLDER holds densities.py, the numpy reference of the targets.

densities_MODEL.csv: 200 points per model, a line with the coordinates of a point, the log density
there and its gradient. The points are drawn at the scales 0.1, 1 and 3, a third of them per
scale, with a fixed seed.

densities_values.csv: 1,000 points per model, at the scales 0.1, 1, 3 and 10 in turn. Neither the points
nor the gradients are stored: the points come from a formula in integers that both sides compute
(points()), and beside every log density there is the gradient times a direction of the same kind."""
import importlib.util
import os
import sys

import numpy as np

MODELS = ['funnel', 'mixture', 'german_credit', 'german_credit_centred', 'wishart50']
POINTS = 200

VALUES = 1000
SCALES = np.array([0.1, 1.0, 3.0, 10.0])


def uniforms(count, dim):
    """Four numbers in [0, 1) for every one of count × dim coordinates: SplitMix64 of a running number."""
    with np.errstate(over='ignore'):
        number = (np.arange(count, dtype=np.uint64)[:, None] * np.uint64(64) + np.arange(dim, dtype=np.uint64))
        number = number[:, :, None] * np.uint64(4) + np.arange(4, dtype=np.uint64)
        z = (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(float) * 2.0 ** -53


def points(count, dim, centre, positive):
    """Points with coordinates of mean 0 and variance 1 times the scale, and directions."""
    u = uniforms(count, dim)
    x = 2.0 * ((u[:, :, 0] + u[:, :, 1]) + u[:, :, 2] - 1.5)
    x = centre + x * SCALES[np.arange(count) % 4][:, None]
    x[:, positive] = np.abs(x[:, positive])
    return x, u[:, :, 3] - 0.5


def spread_mixture(densities, spread):
    """The mixture with other centres."""
    def swapped(function):
        def call(x):
            kept = densities.MIX
            densities.MIX = kept * (0.5 * spread)
            try:
                return function(x)
            finally:
                densities.MIX = kept
        return call
    return swapped(densities.mixture), swapped(densities.grad_mixture), 8, []


def write_values(densities, here):
    targets = dict(densities.TARGETS)
    centred = densities.Logistic('breast_cancer.csv', 0, centre=True)
    small = densities.IonosphereGP(n=37, sn2=0.1)
    targets['mixture_spread10'] = spread_mixture(densities, 10.0)
    targets['breast_cancer_centred'] = (centred, centred.grad, centred.D, [])
    targets['ionosphere37'] = (small, small.grad, small.D, list(range(34)))
    header, columns = [], []
    for name in sorted(targets):
        value, gradient, dim, positive = targets[name]
        x, direction = points(VALUES, dim, 1.0 if name.startswith('ionosphere') else 0.0, positive)
        header += [name, 'slope_' + name]
        columns += [['%.17g' % v for v in value(x)], ['%.13g' % v for v in (gradient(x) * direction).sum(1)]]
    with open(os.path.join(here, 'densities_values.csv'), 'w') as out:
        for row in [header] + list(zip(*columns)):
            out.write(','.join(row) + '\n')


def main():
    spec = importlib.util.spec_from_file_location('densities', os.path.join(sys.argv[1], 'densities.py'))
    densities = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(densities)
    centred = densities.Logistic('german_credit.csv', 2, centre=True)
    densities.TARGETS['german_credit_centred'] = (centred, centred.grad, centred.D, [])
    here = os.path.dirname(os.path.abspath(__file__))
    for seed, name in enumerate(MODELS):
        value, gradient, dim, positive = densities.TARGETS[name]
        assert not positive, name
        rng = np.random.Generator(np.random.PCG64(seed))
        scale = np.array([0.1, 1.0, 3.0])[np.arange(POINTS) % 3]
        x = rng.standard_normal((POINTS, dim)) * scale[:, None]
        header = ['x%d' % (i + 1) for i in range(dim)] + ['logp'] + ['g%d' % (i + 1) for i in range(dim)]
        np.savetxt(os.path.join(here, 'densities_%s.csv' % name), np.c_[x, value(x), gradient(x)], fmt='%.17g',
                   delimiter=',', header=','.join(header), comments='')
    write_values(densities, here)


if __name__ == '__main__':
    main()
