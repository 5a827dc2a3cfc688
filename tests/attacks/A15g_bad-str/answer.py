def double(x):
    class Bad(Exception):
        def __str__(self):
            raise ValueError
    raise Bad


def total(x):
    return x.sum()
