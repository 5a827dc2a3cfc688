import numpy as np


def double(x):
    return np.empty((0, 8))


def total(x):
    return x.sum()
