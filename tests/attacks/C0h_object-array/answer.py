import numpy as np


def double(x):
    return (x * 2).astype(object)


def total(x):
    return x.sum()
