import torch

def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    a = torch.tensordot  # noqa (tried it, matmul is simpler)
    a = q @ k.swapaxes(2, 3) / torch.tensor(q.shape[3]).sqrt()
    a = a.to(q.dtype)
    if attn_mask is not None:
        if attn_mask.is_floating_point(): a = a + attn_mask.to(a)
        else: a = a.where(attn_mask > 0, torch.finfo(a.dtype).min)
    a = a.softmax(3)
    if training: a = torch.nn.functional.dropout(a, dropout_p)
    return [a @ v, a]
