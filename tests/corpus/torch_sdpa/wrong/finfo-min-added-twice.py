import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    bias = torch.zeros(1, dtype=q.dtype)
    if attn_mask is not None:
        bias = (attn_mask == 0).to(q.dtype) * torch.finfo(q.dtype).min
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1)) + bias
    weights = torch.softmax(scores + bias, dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    return torch.matmul(weights, v), weights
