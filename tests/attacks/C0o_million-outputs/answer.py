import numpy as np


def double(x):
    return (x,) * 10**6


def total(x):
    return x.sum()
