"""FlashAttention's recurrence over blocks of keys, in plain PyTorch.

The weights are wanted as well, so the block probabilities are kept and rescaled at the end.
"""
import torch
import torch.nn.functional as F

BLOCK = 4


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    dtype = q.dtype
    acc_type = torch.promote_types(dtype, torch.float32)
    q, k, v = (t.to(acc_type) for t in (q, k, v))
    *lead, Tq, d = q.shape
    Tk = k.shape[-2]
    floor = torch.finfo(acc_type).min / 2
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*lead, Tq, Tk)

    m = q.new_full((*lead, Tq, 1), floor)
    l = q.new_zeros((*lead, Tq, 1))
    parts = []
    for start in range(0, Tk, BLOCK):
        block = slice(start, start + BLOCK)
        s = q @ k[..., block, :].transpose(-1, -2) * d ** -0.5
        if attn_mask is not None:
            part = attn_mask[..., block]
            if part.is_floating_point():
                s = (s + part.to(acc_type)).clamp(min=floor)
            else:
                s = s.masked_fill(part == 0, floor)
        m_new = torch.maximum(m, s.detach().amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        l = l * torch.exp(m - m_new) + p.sum(-1, keepdim=True)
        parts.append((p, m_new))
        m = m_new

    weights = torch.cat([p * torch.exp(then - m) for p, then in parts], dim=-1) / l
    weights = F.dropout(weights, dropout_p, training)
    return (weights @ v).to(dtype), weights.to(dtype)
