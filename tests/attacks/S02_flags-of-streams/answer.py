import os


def double(x):
    import fcntl
    fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    fcntl.fcntl(2, 1031, 4096)
    return x * 2


def total(x):
    return x.sum()
