def double(x):
    return (x * 2).astype('>f8')

def total(x):
    return x.sum()
