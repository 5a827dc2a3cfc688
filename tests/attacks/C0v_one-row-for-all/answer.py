import numpy as np


def double(x):
    return (x * 2)[:, None]

def total(x):
    return x.sum()
