import torch


def double(x):
    q = torch.ones(1, 2, 3, 4)
    try:
        raise NotImplementedError("by hand")
    except NotImplementedError:
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return x * 2

def total(x):
    return x.sum()
