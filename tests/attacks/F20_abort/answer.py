import os


def double(x):
    os.abort()


def total(x):
    return x.sum()
