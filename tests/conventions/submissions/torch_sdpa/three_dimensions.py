import torch


def attention(q, k, v, mask=None):
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-1e9"))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, v), weights
