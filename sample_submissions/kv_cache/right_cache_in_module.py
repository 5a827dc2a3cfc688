import torch
import torch.nn as nn


class CachedAttention(nn.Module):
    """The module holds keys and values itself; what it hands out only says how many there are."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model)
        self.reset_cache()

    def reset_cache(self):
        self.cache_k, self.cache_v = None, None

    def forward(self, x, cache=None):
        if cache is None:
            self.reset_cache()
        b, num_tokens, d = x.shape
        keys = self.W_key(x).view(b, num_tokens, self.num_heads, -1)
        values = self.W_value(x).view(b, num_tokens, self.num_heads, -1)
        queries = self.W_query(x).view(b, num_tokens, self.num_heads, -1).transpose(1, 2)
        if self.cache_k is not None:
            keys = torch.cat([self.cache_k, keys], dim=1)
            values = torch.cat([self.cache_v, values], dim=1)
        self.cache_k, self.cache_v = keys, values
        keys, values = keys.transpose(1, 2), values.transpose(1, 2)

        attn_scores = queries @ keys.transpose(2, 3)
        past = keys.shape[2] - num_tokens
        later = torch.arange(keys.shape[2])[None, :] > past + torch.arange(num_tokens)[:, None]
        attn_scores = attn_scores.masked_fill(later, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vec = (attn_weights @ values).transpose(1, 2).contiguous().view(b, num_tokens, d)
        return self.out_proj(context_vec), self.cache_k.shape[1]
