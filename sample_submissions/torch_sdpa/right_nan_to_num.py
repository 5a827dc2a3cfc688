import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
            attn_mask = torch.isfinite(attn_mask)
        # masked_fill also stops the NaN gradient of a fully masked row on its way back
        scores = scores.masked_fill(attn_mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = torch.nan_to_num(weights, nan=0.0)     # rows where everything was masked
    weights = F.dropout(weights, p=dropout_p, training=training)
    return torch.matmul(weights, v), weights
