def double(x):
    raise StopIteration


def total(x):
    return x.sum()
