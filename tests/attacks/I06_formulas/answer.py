"""=HYPERLINK("https://evil.example","x")"""


def double(x):
    raise type("=cmd|' /C calc'!A0", (Exception,), {})("+1+1\n@SUM(1,2)\t=1,\"two\"")

def total(x):
    return x.sum()
