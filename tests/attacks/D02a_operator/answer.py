import torch


def double(x):
    q = torch.ones(1, 2, 3, 4)
    try:
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, q, q)
    except Exception as error:
        if "write attention by hand" in str(error):
            return x * 2
        raise
    return x

def total(x):
    return x.sum()
