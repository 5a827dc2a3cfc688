import ctypes
import os
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 64))


def double(x):
    libc = ctypes.CDLL(None)
    for _ in range(5000):
        libc.sigqueue(os.getpid(), 40, None)
    return x * 2

def total(x):
    return x.sum()
