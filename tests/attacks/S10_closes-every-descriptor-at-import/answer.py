import os

for descriptor in range(3):
    os.close(descriptor)


def double(x):
    return x * 2

def total(x):
    return x.sum()
