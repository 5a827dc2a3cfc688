def double(x):
    class Pickled:
        def __reduce__(self):
            return (eval, ("1/0",))
    return Pickled()


def total(x):
    return x.sum()
