def double(x):
    x *= 0
    return x * 2


def total(x):
    return x.sum()
