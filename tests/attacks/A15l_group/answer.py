def double(x):
    raise BaseExceptionGroup("many", [KeyboardInterrupt(), SystemExit(0), ValueError("\x1b[2J")])

def total(x):
    return x.sum()
