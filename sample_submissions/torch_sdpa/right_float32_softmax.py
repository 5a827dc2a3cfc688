import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    """LLaMA style: the softmax is upcast to float32, the result goes back to the input's dtype."""
    attn_weights = torch.matmul(q, k.transpose(2, 3)) / (q.shape[-1] ** 0.5)
    if attn_mask is not None:
        min_value = torch.finfo(attn_weights.dtype).min
        if not attn_mask.is_floating_point():
            attn_mask = (attn_mask == 0).to(attn_weights.dtype) * min_value
        attn_weights = attn_weights + attn_mask.to(attn_weights.dtype)
        attn_weights = torch.max(attn_weights, torch.tensor(min_value, dtype=attn_weights.dtype))
    acc = torch.promote_types(torch.float32, attn_weights.dtype)
    attn_weights = F.softmax(attn_weights, dim=-1, dtype=acc).to(q.dtype)
    attn_weights = F.dropout(attn_weights, p=dropout_p, training=training)
    return torch.matmul(attn_weights, v), attn_weights
