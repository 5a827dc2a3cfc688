import numpy as np


def double(x):
    return np.lib.stride_tricks.as_strided(x, x.shape, [0] * x.ndim)

def total(x):
    return x.sum()
