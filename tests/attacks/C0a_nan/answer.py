import numpy as np


def double(x):
    return x * np.nan


def total(x):
    return x.sum()
