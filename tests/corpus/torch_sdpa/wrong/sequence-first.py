import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # inputs come as (T, H, B, d) like everywhere else in torch
    q, k, v = q.permute(2, 1, 0, 3), k.permute(2, 1, 0, 3), v.permute(2, 1, 0, 3)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = F.dropout(torch.softmax(scores, dim=-1), dropout_p, training)
    return torch.matmul(weights, v).permute(2, 1, 0, 3), weights
