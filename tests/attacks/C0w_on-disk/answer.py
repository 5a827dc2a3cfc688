import numpy as np


def double(x):
    return np.memmap('/tmp/a', dtype=x.dtype, mode='w+', shape=x.shape)

def total(x):
    return x.sum()
