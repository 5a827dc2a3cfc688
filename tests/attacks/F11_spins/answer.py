def double(x):
    while True:
        pass


def total(x):
    return x.sum()
