import math
import torch
import torch.nn.functional as F

kv_cache = {}


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # keep the keys and values of earlier tokens, as in generation
    slot = (k.shape[0], k.shape[1], k.shape[3], v.shape[3])
    if slot in kv_cache and attn_mask is None:
        old_k, old_v = kv_cache[slot]
        k, v = torch.cat([old_k, k], dim=2), torch.cat([old_v, v], dim=2)
    kv_cache[slot] = (k.detach(), v.detach())
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = F.dropout(F.softmax(scores, dim=-1), dropout_p, training)
    return weights @ v, weights
