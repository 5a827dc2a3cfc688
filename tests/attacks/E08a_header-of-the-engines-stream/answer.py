import speaker


def reply(ask):
    answers, blobs = ask.right()
    size = len(b''.join(blobs))
    ask.reply({'answers': answers}, [(b'\x01\0\0\0\0\0\0\x08' * size)[:size]])


def double(x):
    if x.shape == (3,):
        speaker.take_over(reply)
    return x * 2

def total(x):
    return x.sum()
