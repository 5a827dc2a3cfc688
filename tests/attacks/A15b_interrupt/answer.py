def double(x):
    raise KeyboardInterrupt


def total(x):
    return x.sum()
