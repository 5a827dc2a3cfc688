import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def split_heads(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, -1).permute(0, 2, 1, 3)

    def forward(self, v, k, q, mask=None):
        q, k, v = self.split_heads(self.wq(q)), self.split_heads(self.wk(k)), self.split_heads(self.wv(v))
        logits = q @ k.mT / k.size(-1) ** 0.5
        if mask is not None:
            logits = logits + (1.0 - mask) * -1e9     # 1 = look, 0 = do not
        weights = torch.softmax(logits, dim=-1)
        out = (weights @ v).permute(0, 2, 1, 3).flatten(2)
        return weights, self.wo(out)
