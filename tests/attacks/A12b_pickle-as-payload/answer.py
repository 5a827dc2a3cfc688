import pickle

import speaker


class Bomb:
    def __reduce__(self):
        return print, ("ran on the host",)


def reply(ask):
    answers, blobs = ask.right()
    data = pickle.dumps(Bomb()).ljust(len(b"".join(blobs)), b".")
    ask.reply({"answers": answers}, [data[: len(b"".join(blobs))]])


def double(x):
    if x.shape == (3,):
        speaker.take_over(reply)
    return x * 2

def total(x):
    return x.sum()
