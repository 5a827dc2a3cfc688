import numpy as np


def double(x):
    return (x * 3).astype(np.longdouble)


def total(x):
    return x.sum()
