import numpy as np


def double(x):
    return x.astype("M8[s]")


def total(x):
    return x.sum()
