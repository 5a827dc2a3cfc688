import numpy as np


def double(x):
    return np.empty_like(x)


def total(x):
    return x.sum()
