import numpy as np


def double(x):
    return (x * 2).tobytes()

def total(x):
    return x.sum()
