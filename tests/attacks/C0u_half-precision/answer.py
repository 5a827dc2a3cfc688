import numpy as np


def double(x):
    return (x * 2).astype(np.float16)

def total(x):
    return x.sum()
