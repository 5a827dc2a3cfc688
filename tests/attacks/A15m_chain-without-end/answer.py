def double(x):
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    raise first

def total(x):
    return x.sum()
