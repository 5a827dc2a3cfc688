import torch
from torch import Tensor, nn


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # d^(-1/4) on both sides, as in whisper: in half precision q.k never gets larger than it must
    scale = q.shape[-1] ** -0.25
    qk = (q * scale) @ (k * scale).transpose(-1, -2)
    qk = qk.float() if qk.dtype in (torch.float16, torch.bfloat16) else qk
    if attn_mask is not None:
        if not attn_mask.is_floating_point():
            additive = torch.zeros(attn_mask.shape, dtype=qk.dtype)
            attn_mask = additive.masked_fill(attn_mask == 0, torch.finfo(qk.dtype).min / 2)
        qk = qk + attn_mask.to(qk.dtype)
    w = torch.softmax(qk, dim=-1).to(q.dtype)
    w = nn.functional.dropout(w, p=dropout_p, training=training)
    return w @ v, w
