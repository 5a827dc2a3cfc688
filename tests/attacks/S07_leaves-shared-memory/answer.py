from multiprocessing import shared_memory

KEPT = shared_memory.SharedMemory(create=True, size=1 << 16)


def double(x):
    KEPT.buf[0] = 7
    return x * 2

def total(x):
    return x.sum()
