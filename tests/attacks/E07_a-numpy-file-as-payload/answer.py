import speaker


def reply(ask):
    answers, blobs = ask.right()
    data = b'\x93NUMPY\x01\x00' + b''.join(blobs)
    ask.reply({'answers': answers}, [data])


def double(x):
    if x.shape == (3,):
        speaker.take_over(reply)
    return x * 2

def total(x):
    return x.sum()
