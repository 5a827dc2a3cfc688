import torch, torch.nn.functional as F
def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    s = q @ k.mT / q.shape[-1] ** .5; b = 0 if attn_mask is None else attn_mask.to(s.dtype) if attn_mask.is_floating_point() else (attn_mask == 0).to(s.dtype) * (torch.finfo(s.dtype).min / 2)
    return (w := F.dropout((s + b).softmax(-1), dropout_p, training)) @ v, w
