"""The accumulator is a proper average after every block."""
import numpy as np


def attention(Q, K, V, block_size, mask=None):
    d = Q.shape[-1]
    average, log_total = None, None
    for begin in range(0, K.shape[1], block_size):
        keys, values = K[:, begin:begin + block_size], V[:, begin:begin + block_size]
        logits = Q @ np.swapaxes(keys, -1, -2) / d ** 0.5
        if mask is not None:
            logits = np.where(mask[..., begin:begin + block_size], logits, np.finfo(np.float64).min)
        peak = logits.max(-1, keepdims=True)
        weights = np.exp(logits - peak)
        total = weights.sum(-1, keepdims=True)
        block_log = peak + np.log(total)
        block_average = weights @ values / total
        if average is None:
            average, log_total = block_average, block_log
            continue
        new_log = np.logaddexp(log_total, block_log)
        average = np.exp(log_total - new_log) * average + np.exp(block_log - new_log) * block_average
        log_total = new_log
    return average
