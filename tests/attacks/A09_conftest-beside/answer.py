def double(x):
    return x * 3

def total(x):
    return x.sum()
