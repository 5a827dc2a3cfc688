def double(x):
    import ctypes
    ctypes.string_at(0)


def total(x):
    return x.sum()
