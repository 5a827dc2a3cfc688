def double(x):
    raise GeneratorExit


def total(x):
    return x.sum()
