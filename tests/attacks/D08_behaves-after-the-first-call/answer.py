CALLS = []


def double(x):
    CALLS.append(1)
    return x * (2 if len(CALLS) > 1 else 3)

def total(x):
    return x.sum()
