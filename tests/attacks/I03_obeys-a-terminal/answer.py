def double(x):
    print("\x1b]0;title\x07\x1b[2J\x1b]52;c;ZXZpbA==\x07\x1b[?1049h\x9b31m\r")
    raise RuntimeError("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\r\x08\x7f")

def total(x):
    return x.sum()
