def double(x):
    raise MemoryError


def total(x):
    return x.sum()
