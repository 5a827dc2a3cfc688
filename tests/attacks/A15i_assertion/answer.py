def double(x):
    assert False


def total(x):
    return x.sum()
