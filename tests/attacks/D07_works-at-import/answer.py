import time

time.sleep(60)


def double(x):
    return x * 2

def total(x):
    return x.sum()
