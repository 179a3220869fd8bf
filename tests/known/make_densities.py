"""Writes the known answers of test_densities.c: densities_MODEL.csv, 200 points a model.

    python3 make_densities.py FOLDER

FOLDER holds densities.py, the numpy reference of the targets. Each line has the coordinates of a
point, the log density there and its gradient. A third of the points are drawn at each of the scales
0.1, 1 and 3, all with a fixed seed."""
import importlib.util
import os
import sys

import numpy as np

MODELS = ['funnel', 'mixture', 'german_credit', 'german_credit_centred', 'wishart50']
POINTS = 200


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


if __name__ == '__main__':
    main()
