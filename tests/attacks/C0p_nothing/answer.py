import numpy as np


def double(x):
    return None


def total(x):
    return x.sum()
