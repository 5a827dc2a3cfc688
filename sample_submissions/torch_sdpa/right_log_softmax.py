import math
import torch
from torch.nn import functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    logits = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    lowest = torch.finfo(logits.dtype).min / 4
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            logits = (logits + attn_mask.to(logits.dtype)).clamp(min=lowest)
        else:
            logits = torch.where(attn_mask != 0, logits, lowest)
    log_weights = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    weights = F.dropout(log_weights.exp(), dropout_p, training)
    return torch.einsum("...qk,...kv->...qv", weights, v), weights
