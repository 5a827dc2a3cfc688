import sys


def double(x):
    sys.stderr.buffer.write(b"\xff\xfe\x80\xed\xa0\x80" * 99)
    raise ValueError("\ud800 lone \udfff")

def total(x):
    return x.sum()
