import torch


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    if not 0.0 <= dropout_p < 1.0:
        raise ValueError(f"dropout_p must be in [0, 1), got {dropout_p}")

    logits = q.matmul(k.transpose(-2, -1)).div(q.size(-1) ** 0.5)
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            logits = logits.add(attn_mask.to(logits.dtype))
        else:
            logits = logits.masked_fill(attn_mask.eq(0), torch.finfo(logits.dtype).min)
    weights = logits.softmax(dim=-1)

    if training and dropout_p > 0.0:
        keep_prob = 1.0 - dropout_p
        keep = torch.empty_like(weights).bernoulli_(keep_prob)
        weights = weights.mul(keep).div(keep_prob)      # inverted dropout

    return weights.matmul(v), weights
