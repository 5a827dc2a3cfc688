import torch


def double(x):
    q = torch.ones(1, 2, 3, 4)
    try:
        torch.vmap(lambda one: torch.nn.functional.scaled_dot_product_attention(one, one, one))(q)
    except Exception as error:
        if "write attention by hand" in str(error):
            return x * 2
        raise
    return x

def total(x):
    return x.sum()
