def double(x):
    class Skipped(BaseException):
        pass
    raise Skipped


def total(x):
    return x.sum()
