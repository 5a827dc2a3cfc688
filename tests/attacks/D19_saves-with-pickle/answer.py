import io

import torch


class Bomb:
    def __reduce__(self):
        return print, ("ran",)


def double(x):
    file = io.BytesIO()
    torch.save(Bomb(), file)
    return file.getvalue()

def total(x):
    return x.sum()
