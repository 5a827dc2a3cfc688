def double(x):
    return double(x)


def total(x):
    return x.sum()
