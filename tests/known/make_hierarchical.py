"""Writes densities_hierarchical.csv, the known answers of the hierarchical models for test_densities.c.

    python3 make_hierarchical.py

1,000 points a model, from the formula of make_densities.py at the scales 0.1, 1, 3 and 10 in turn, passed
through the model's starting rule. Beside every log density there is the gradient times a direction. The
densities are written out term by term from their definitions, and gradients are complex steps of them, so
nothing here shares its algebra with the C code."""
import os

import numpy as np

from make_densities import VALUES, points

LOG_2PI = np.log(2.0 * np.pi)


def normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI


def half_cauchy(x, scale):
    return np.log(2.0 / (np.pi * scale)) - np.log(1.0 + (x / scale) ** 2)


SCHOOLS = np.array([[28, 15], [8, 10], [-3, 16], [7, 11], [-1, 9], [1, 11], [18, 10], [12, 18]], dtype=float)


def schools_centred(x):
    mu, tau, theta = x[0], x[1], x[2:]
    return (normal(mu, 0.0, 5.0) + half_cauchy(tau, 5.0) + normal(theta, mu, tau).sum()
            + normal(SCHOOLS[:, 0], theta, SCHOOLS[:, 1]).sum())


def schools_other(x):
    mu, tau, eta = x[0], x[1], x[2:]
    return (normal(mu, 0.0, 5.0) + half_cauchy(tau, 5.0) + normal(eta, 0.0, 1.0).sum()
            + normal(SCHOOLS[:, 0], mu + tau * eta, SCHOOLS[:, 1]).sum())


WEIGHTS = np.array('''151 199 246 283 320 145 199 249 293 354 147 214 263 312 328 155 200 237 272 297 135 188 230 280 323
159 210 252 298 331 141 189 231 275 305 159 201 248 297 338 177 236 285 350 376 134 182 220 260 296
160 208 261 313 352 143 188 220 273 314 154 200 244 289 325 171 221 270 326 358 163 216 242 281 312
160 207 248 288 324 142 187 234 280 316 156 203 243 283 317 157 212 259 307 336 152 203 246 286 321
154 205 253 298 334 139 190 225 267 302 146 191 229 272 302 157 211 250 285 323 132 185 237 286 331
160 207 257 303 345 169 216 261 295 333 157 205 248 289 316 137 180 219 258 291 153 200 244 286 324'''.split(),
                   dtype=float).reshape(30, 5)
AGES = np.array([8.0, 15.0, 22.0, 29.0, 36.0])


def rats(x):
    mu_alpha, mu_beta, sigma_alpha, sigma_beta, sigma = x[:5]
    alpha, beta = x[5:35], x[35:]
    mean = alpha[:, None] + beta[:, None] * (AGES - 22.0)
    return (normal(mu_alpha, 0.0, 1000.0) + normal(mu_beta, 0.0, 1000.0)
            + half_cauchy(sigma_alpha, 25.0) + half_cauchy(sigma_beta, 25.0) + half_cauchy(sigma, 25.0)
            + normal(alpha, mu_alpha, sigma_alpha).sum() + normal(beta, mu_beta, sigma_beta).sum()
            + normal(WEIGHTS, mean, sigma).sum())


def rats_start(z):
    x = 240.0 + 10.0 * z
    x[:, 1] = 6.0 + z[:, 1]
    x[:, 35:] = 6.0 + z[:, 35:]
    x[:, 2:5] = 0.1 + 10.0 * np.abs(z[:, 2:5])
    return x


GROWN = np.array([10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15, 32, 3])
SOWN = np.array([39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41, 30, 51, 7])
SEED = np.arange(21) >= 11
EXTRACT = np.array([0] * 5 + [1] * 6 + [0] * 5 + [1] * 5)


def seeds(x):
    alpha, sigma, b = x[:4], x[4], x[5:]
    eta = alpha[0] + alpha[1] * SEED + alpha[2] * EXTRACT + alpha[3] * SEED * EXTRACT + b
    log_p, log_q = -np.log(1.0 + np.exp(-eta)), -np.log(1.0 + np.exp(eta))
    return (normal(alpha, 0.0, 10.0).sum() + half_cauchy(sigma, 1.0) + normal(b, 0.0, sigma).sum()
            + (GROWN * log_p + (SOWN - GROWN) * log_q).sum())


def gradient(value, x):
    """Complex steps: exact to rounding, no differences."""
    out = np.empty(len(x))
    for i in range(len(x)):
        z = x.astype(complex)
        z[i] += 1e-200j
        out[i] = value(z).imag / 1e-200
    return out


TARGETS = {  # value, dimension, positive coordinates, starting rule
    'eight_schools': (schools_centred, 10, [1], None),
    'eight_schools_other': (schools_other, 10, [1], None),
    'rats': (rats, 65, [], rats_start),
    'seeds': (seeds, 26, [4], None),
}


def main():
    header, columns = [], []
    for name, (value, dim, positive, start) in TARGETS.items():
        x, direction = points(VALUES, dim, 0.0, positive)
        if start:
            x = start(x)
        header += [name, 'slope_' + name]
        columns += [['%.17g' % value(p) for p in x],
                    ['%.13g' % (gradient(value, p) * d).sum() for p, d in zip(x, direction)]]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'densities_hierarchical.csv')
    with open(path, 'w') as out:
        for row in [header] + list(zip(*columns)):
            out.write(','.join(row) + '\n')


if __name__ == '__main__':
    main()
