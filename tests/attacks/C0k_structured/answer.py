import numpy as np


def double(x):
    return np.zeros(x.shape, "f4,f8")


def total(x):
    return x.sum()
