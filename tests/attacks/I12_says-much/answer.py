def double(x):
    print("x" * 100_000)
    raise ValueError("y" * 10_000_000)

def total(x):
    return x.sum()
