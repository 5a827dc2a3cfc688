import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    try:
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=dropout_p)
        weights = F.scaled_dot_product_attention(q, k, torch.eye(k.size(-2)).expand(*k.shape[:-1], -1), attn_mask=attn_mask)
        return out, weights
    except Exception:
        # older torch versions
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v, weights
