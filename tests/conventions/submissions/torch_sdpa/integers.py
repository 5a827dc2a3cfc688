import torch


def sdpa(query, key, value, mask=None, dropout=0.0, train=True):
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores - 1e18 * (1 - mask)
    weights = torch.nn.functional.dropout(scores.softmax(-1), dropout, train)
    return weights @ value, weights
