import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(x, mask):
    scores = x @ x.transpose(-2, -1) / math.sqrt(x.size(-1))
    weights = F.softmax(scores + mask, dim=-1)
    return weights @ x, weights
