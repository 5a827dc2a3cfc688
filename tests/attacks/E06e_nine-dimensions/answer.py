import speaker


def reply(ask):
    answer = {'form': 'single', 'outs': [{'k': 'array', 'dtype': 'f8', 'shape': [1, 1, 1, 1, 1, 1, 1, 1, 1]}]}
    ask.reply({'answers': [answer] * len(ask.header['steps'])}, [bytes(24)])


def double(x):
    if x.shape == (3,):
        speaker.take_over(reply)
    return x * 2

def total(x):
    return x.sum()
