def double(x):
    return {str(number): x for number in range(5000)}

def total(x):
    return x.sum()
