import numpy as np


def double(x):
    return np.array(2.0)


def total(x):
    return x.sum()
