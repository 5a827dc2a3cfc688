def double(x):
    raise ValueError("x" * 10**7)


def total(x):
    return x.sum()
