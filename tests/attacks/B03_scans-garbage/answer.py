import os


def double(x):
    import gc
    print(len(gc.get_objects()))
    return x * 2


def total(x):
    return x.sum()
