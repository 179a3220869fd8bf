#!/usr/bin/env python3
"""What a call of a Python density costs beyond the function itself, and a C function from Python against the command.

    overhead.py [ROUNDS]        needs the package gess and a C compiler; prints medians, and for the C function the least

All figures are the processor's time, so that other work on the machine hardly matters.
"""
import ctypes
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gess
import numpy as np
from gess._batch import Function
from gess._density import Density, new_model

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
DIM, BATCH = 5, 64
PLUGIN = """
#include <gess/gess.h>
#include <math.h>
int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < dim; k++) out[i] -= 0.5 * x[i * dim + k] * x[i * dim + k] + 0.1 * sin(x[i * dim + k]);
    }
    return 0;
}
int empty(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker, (void)dim, (void)x;
    for (size_t i = 0; i < n; i++) out[i] = 0;
    return 0;
}
const unsigned gess_plugin_abi = GESS_ABI;
int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data, (void)message, (void)size;
    density->dim = %d;
    density->logp = logp;
    return 0;
}
void gess_plugin_close(gess_density *density) { (void)density; }
"""


def best(function, repeat):
    """The median over rounds of the processor's seconds of one call."""
    times = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for _ in range(repeat):
            function()
        times.append((time.thread_time() - began) / repeat)
    return statistics.median(times)


def overhead(function, vectorize, library):
    """Seconds that a batch takes beyond the function, when the library calls it: less what an empty C function takes there."""
    wrapped = Function(function, vectorize=vectorize)
    density = Density(DIM, wrapped.plain_batch() or (lambda worker, points, logp, blobs: wrapped(points, logp, blobs)))
    model = new_model(density)
    points = np.random.default_rng(1).normal(size=(BATCH, DIM))
    direct = (lambda: function(points)) if vectorize else (lambda: [function(point) for point in points])
    c_function = ctypes.cast(ctypes.CDLL(library).empty, ctypes.c_void_p).value
    nothing = new_model(Density(DIM, lambda *_: None), c_function)
    return best(lambda: model.evaluate(points), 2000) - best(lambda: nothing.evaluate(points), 2000) - best(direct, 2000)


def vectorised(x):
    return -0.5 * np.einsum("ij,ij->i", x, x)


def scalar(x):
    return -0.5 * x.dot(x)


def build(folder):
    """The C density as a shared object."""
    source, library = Path(folder, "logp.c"), Path(folder, "logp.so")
    source.write_text(PLUGIN % DIM)
    include = Path(__file__).resolve().parents[2] / "include"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", include, "-o", library, source, "-lm"], check=True)
    return str(library)


def children():
    """The processor's seconds of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pointer_against_command(folder, library):
    """The processor's seconds of a run with a C function: from Python, and by the command without its start."""
    options = {"chains": 64, "warmup": 500, "draws": 20000, "seed": 1, "threads": 1}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    function = ctypes.CDLL(library).logp
    command = [sys.executable, "-m", "gess"]
    seconds = {"python": [], "command": []}
    for i in range(ROUNDS):
        began = time.process_time()
        gess.sample(function, DIM, directory=Path(folder, f"p{i}"), **options)
        seconds["python"].append(time.process_time() - began)
        began = children()
        subprocess.run([*command, "--version"], check=True, stdout=subprocess.DEVNULL)
        start, began = children() - began, children()
        subprocess.run([*command, "sample", library, "-q", "-o", str(Path(folder, f"c{i}")), *words], check=True)
        seconds["command"].append(children() - began - start)
        assert Path(folder, f"p{i}", "draws.gess").read_bytes() == Path(folder, f"c{i}", "draws.gess").read_bytes()
    return {name: min(values) for name, values in seconds.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder)
        batch = overhead(vectorised, True, library)
        print(f"vectorised density, {BATCH} points per call: {1e6 * batch:.2f} us per call beyond the function")
        point = overhead(scalar, False, library) / BATCH
        print(f"scalar density, {BATCH} points per call: {1e6 * point:.3f} us per point beyond the function")
        pair = pointer_against_command(folder, library)
        print(f"C function: {pair['python']:.3f} s from Python, {pair['command']:.3f} s by the command, "
              f"ratio {pair['python'] / pair['command']:.3f}; the same bytes")


main()
