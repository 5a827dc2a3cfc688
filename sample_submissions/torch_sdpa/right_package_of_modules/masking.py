import torch


def apply_mask(scores, mask):
    """Zero or False blocks; a floating mask is added."""
    if mask is None:
        return scores
    if mask.is_floating_point():
        return scores + mask.to(scores.dtype)
    return scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
