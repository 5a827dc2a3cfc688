import math
import torch
import torch.nn.functional as F

def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # q: [B, H, T_q, d_head]
    # k: [B, H, T_k, d_head]
    # v: [B, H, T_k, d_v]
    d_head = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_head)

    if attn_mask is not None:
        # attn_mask should be broadcastable to [B, H, T_q, T_k]
        scores = scores.masked_fill(attn_mask == 0, float("-inf"))

    weights = torch.softmax(scores, dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    out = torch.matmul(weights, v)
    return out, weights
