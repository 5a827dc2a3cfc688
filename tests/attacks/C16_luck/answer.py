import numpy as np


def double(x):
    return x * np.random.default_rng().choice([2, 3], x.shape)

def total(x):
    return x.sum()
