import numpy as np


def hide(scores, mask):
    """Push the scores that must not be seen out of the softmax."""
    if mask is None:
        return scores
    return np.where(mask, scores, np.finfo(scores.dtype).min)


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return np.arange(max_len)[None, None, :] < np.asarray(lengths)[:, None, None]
