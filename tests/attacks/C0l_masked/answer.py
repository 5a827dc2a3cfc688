import numpy as np


def double(x):
    return np.ma.masked_all(x.shape)


def total(x):
    return x.sum()
