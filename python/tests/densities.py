"""Densities that tests hand to other processes, so they are in a module."""
import os
import signal
import time

import numpy as np


def normal(x):
    return -0.5 * float(x @ x)


def normal_batch(x):
    return -0.5 * np.sum(x * x, axis=1)


def normal_with_blobs(x):
    return normal(x), x.sum(), x[0] ** 2


def slow(x):
    time.sleep(0.002)
    return normal(x)


class Killer:
    """Kills its process at a certain call."""

    def __init__(self, after):
        self.left = after

    def __call__(self, x):
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return normal(x)


class Thrower:
    """Raises at a certain call."""

    def __init__(self, after):
        self.left = after

    def __call__(self, x):
        self.left -= 1
        if self.left < 0:
            raise ArithmeticError("no value here")
        return normal(x)
