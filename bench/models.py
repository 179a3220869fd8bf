"""Evaluations per second of the built-in densities against their numpy reference.

    OPENBLAS_NUM_THREADS=1 python3 bench/models.py DENSITIES.py [--library build/libgess.so] [--json]

Both sides evaluate the same batch in one process on one core, in turns, timed by the thread's clock; the best
of the rounds counts. Values are compared before anything is timed. For models whose work is mostly multiply-adds
the table also has their rate, and its share of the rate of numpy's DGEMM on this machine."""
import argparse
import ctypes
import importlib.util
import json
import os
import sys
import time

for variable in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(variable, '1')  # before numpy is loaded
import numpy as np  # noqa: E402

ABI = 1
# specification, its name in the reference, minimal ratio, multiply-adds per evaluation (None: not counted)
MODELS = [
    ('funnel', 'funnel', 3, None),
    ('mixture', 'mixture', 3, None),
    ('breast-cancer', 'breast_cancer', 3, 569 * 31),
    ('german-credit', 'german_credit', 3, 1000 * 25),
    ('stochastic-volatility', 'stochastic_volatility', 3, None),
    # distances of the pairs, a Cholesky factor and one triangular solve
    ('ionosphere', 'ionosphere', 3, 4950 * 34 + 100 ** 3 // 6 + 100 ** 2 // 2),
    ('snp', 'snp', 10, None),
    ('wishart:file={data}/wishart50.csv', 'wishart50', 1, 50 * 51 // 2),
]


class Model(ctypes.Structure):
    """The head of gess_model in <gess/gess.h>."""
    FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t,
                                ctypes.c_void_p, ctypes.c_void_p)
    GRADIENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t,
                                ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    _fields_ = [('abi', ctypes.c_uint), ('name', ctypes.c_char_p), ('dim', ctypes.c_size_t), ('logp', FUNCTION),
                ('gradient', GRADIENT), ('start', ctypes.c_void_p), ('names', ctypes.c_void_p),
                ('user', ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('text', ctypes.c_char * 1024)]


def open_model(library, specification):
    model, error = ctypes.POINTER(Model)(), Error()
    if library.gess_model_open(ctypes.byref(model), specification.encode(), None, ctypes.byref(error)) != 0:
        sys.exit('%s: %s' % (specification, error.text.decode()))
    if model.contents.abi != ABI:
        sys.exit('%s: ABI %d, but this script knows %d' % (specification, model.contents.abi, ABI))
    return model


def rates(functions, seconds, rounds):
    """Calls per second of every function, the best of the rounds; they take turns."""
    repeats = []
    for function in functions:
        count, passed = 1, 0.0
        while passed < seconds / 4:
            count *= 2
            begin = time.thread_time()
            for _ in range(count):
                function()
            passed = time.thread_time() - begin
        repeats.append(max(1, int(count * seconds / passed)))
    best = [0.0] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            begin = time.thread_time()
            for _ in range(repeats[i]):
                function()
            best[i] = max(best[i], repeats[i] / (time.thread_time() - begin))
    return best


def measure(library, specification, reference, gradient, x, options):
    model = open_model(library, specification)
    m = model.contents
    n, dim = x.shape
    if m.dim != dim:
        sys.exit('%s: %d parameters, the reference has %d' % (specification, m.dim, dim))
    out, slopes = np.empty(n), np.empty((n, dim))
    inner, inner_slopes = ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(slopes.ctypes.data)
    points, user, function, slope = ctypes.c_void_p(x.ctypes.data), m.user, m.logp, m.gradient

    def batch():
        function(user, 0, n, dim, points, inner)

    def one():
        function(user, 0, 1, dim, points, inner)

    def batch_gradient():
        slope(user, 0, n, dim, points, inner, inner_slopes)

    batch()
    expected = reference(x)
    error = float(np.max(np.abs(out - expected) / (1 + np.abs(expected))))
    if not error <= 1e-12:
        sys.exit('%s: differs from the reference by %.1e (1 + |value|)' % (specification, error))
    ours, theirs, single, ours_slope, theirs_slope = rates(
        [batch, lambda: reference(x), one, batch_gradient, lambda: gradient(x)], options.seconds, options.rounds)
    library.gess_model_close(model)
    return {'error': error, 'evaluations': ours * n, 'numpy': theirs * n, 'ratio': ours / theirs, 'single': single,
            'gradients': ours_slope * n, 'numpy_gradients': theirs_slope * n,
            'gradient_ratio': ours_slope / theirs_slope}


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description='Built-in densities against their numpy reference, on one core.')
    parser.add_argument('densities', help='the reference, densities.py')
    parser.add_argument('--library', default=os.path.join(here, 'build', 'libgess.so'))
    parser.add_argument('--model', action='append', help='only this model; may be repeated')
    parser.add_argument('--batch', type=int, default=64, help='points per call (64)')
    parser.add_argument('--seconds', type=float, default=0.1, help='of one round (0.1)')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--json', action='store_true')
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location('densities', options.densities)
    densities = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(densities)
    library = ctypes.CDLL(options.library)
    library.gess_model_close.restype = None
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    a = np.random.default_rng(0).standard_normal((600, 600))
    dgemm = rates([lambda: a @ a], options.seconds, options.rounds)[0] * 600 ** 3
    result = {'batch': options.batch, 'dgemm_multiply_adds': dgemm, 'models': {}}
    if not options.json:
        print('batches of %d on one core; DGEMM %.1f Gfma/s' % (options.batch, dgemm / 1e9))
        print('%-22s %11s %11s %8s %11s %11s %8s %9s %8s %7s' % (
            'model', 'eval/s', 'numpy', 'ratio', 'grad/s', 'numpy', 'ratio', 'single', 'Gfma/s', 'of DGEMM'))
    missed = []
    for specification, name, minimum, work in MODELS:
        title = specification.split(':')[0]
        if options.model and title not in options.model:
            continue
        reference, gradient = densities.TARGETS[name][:2]
        x = np.ascontiguousarray(densities.initial(name, options.batch, np.random.default_rng(1)))
        row = measure(library, specification.format(data=os.path.dirname(os.path.abspath(options.densities))),
                      reference, gradient, x, options)
        row['min_ratio'], row['multiply_adds'] = minimum, work
        if work:
            row['of_dgemm'] = row['evaluations'] * work / dgemm
        if row['ratio'] < minimum:
            missed.append('%s: %.2f times numpy, %d wanted' % (title, row['ratio'], minimum))
        result['models'][title] = row
        if not options.json:
            print('%-22s %11.0f %11.0f %8.1f %11.0f %11.0f %8.1f %9.0f %8s %7s' % (
                title, row['evaluations'], row['numpy'], row['ratio'], row['gradients'], row['numpy_gradients'],
                row['gradient_ratio'], row['single'], '%.2f' % (row['evaluations'] * work / 1e9) if work else '',
                '%.0f %%' % (100 * row['of_dgemm']) if work else ''), flush=True)
    if options.json:
        print(json.dumps(result, indent=1))
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
