import numpy as np


def double(x):
    return __import__('collections').namedtuple('N', 'doubled more')(x * 3, x)

def total(x):
    return x.sum()
