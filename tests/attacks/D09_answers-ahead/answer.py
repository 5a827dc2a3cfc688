import speaker


def double(x):
    ask = speaker.Ask.found()
    if len(ask.header["steps"]) > 2:
        return x
    return x * 2

def total(x):
    return x.sum()
