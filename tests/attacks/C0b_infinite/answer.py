import numpy as np


def double(x):
    return x * np.inf


def total(x):
    return x.sum()
