import torch
import torch.nn as nn


class SingleHeadAttention(nn.Module):
    """Cross-attention; `inputs_kv` is the memory, `inputs_q` asks."""

    def __init__(self, features_in, features_qk, features_v):
        super().__init__()
        self.scale = features_qk ** -0.5
        self.query = nn.Linear(features_in, features_qk)
        self.kv = nn.Linear(features_in, features_qk + features_v)

    def forward(self, inputs_kv, inputs_q, attention_mask=None):
        k, v = self.kv(inputs_kv).split([self.query.out_features, self.kv.out_features - self.query.out_features], -1)
        att = torch.einsum("bqd,bkd->bqk", self.query(inputs_q), k) * self.scale
        if attention_mask is not None:
            att = att + attention_mask        # 0 or a large negative number
        return torch.einsum("bqk,bkd->bqd", att.softmax(-1), v)
