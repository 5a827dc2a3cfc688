import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from tqdm.auto import trange

torch.manual_seed(42)
device = "cuda" if torch.cuda.is_available() else "cpu"
print("running on", device)


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    d_k = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if attn_mask is not None:
        if torch.is_floating_point(attn_mask):
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    attn = F.softmax(scores, dim=-1)
    attn = F.dropout(attn, p=dropout_p, training=training)
    output = torch.matmul(attn, v)
    return output, attn


def heatmap(attn, title):
    fig, axes = plt.subplots(1, attn.size(1), figsize=(3 * attn.size(1), 3))
    for h, ax in enumerate(axes):
        ax.imshow(attn[0, h].cpu().numpy(), vmin=0, vmax=1)
        ax.set_title(f"{title}, head {h}")
    fig.tight_layout()
    fig.savefig(f"{title}.png")
    plt.close(fig)


B, H, T, D = 2, 4, 6, 8
q, k, v = (torch.randn(B, H, T, D, device=device) for _ in range(3))
causal = torch.tril(torch.ones(T, T, device=device)).bool()
out, attn = scaled_dot_product_attention(q, k, v, causal, training=False)
print(out.shape, attn.shape)
heatmap(attn, "causal")

masked = q @ k.transpose(-2, -1) / math.sqrt(D) + torch.triu(torch.full((T, T), -1e4), diagonal=1)
print("max difference:", (out - masked.softmax(-1) @ v).abs().max().item())

entropies = []
for exponent in trange(2, 9):
    q, k, v = (torch.randn(1, 1, 64, 2 ** exponent, device=device) for _ in range(3))
    _, w = scaled_dot_product_attention(q, k, v, training=False)
    entropies.append(-(w * w.log()).sum(-1).mean().item())
plt.figure()
plt.plot(entropies)
plt.show()
