def double(x):
    class Bad(Exception):
        def __str__(self):
            while True:
                pass
    raise Bad


def total(x):
    return x.sum()
