import numpy as np


class OnlineSoftmax:
    """Running (max, sum, weighted sum) for a batch of rows."""

    def __init__(self, shape, width):
        self.max = np.full(shape + (1,), -np.inf)
        self.sum = np.zeros(shape + (1,))
        self.value = np.zeros(shape + (width,))

    def update(self, scores, values):
        new = np.maximum(self.max, scores.max(axis=-1, keepdims=True))
        ratio = np.exp(self.max - new)
        exps = np.exp(scores - new)
        self.sum = self.sum * ratio + exps.sum(axis=-1, keepdims=True)
        self.value = self.value * ratio + exps @ values
        self.max = new

    def result(self):
        return self.value / self.sum


def attention(Q, K, V, block_size, mask=None):
    state = OnlineSoftmax(Q.shape[:-1], V.shape[-1])
    for i in range((K.shape[1] + block_size - 1) // block_size):
        part = slice(i * block_size, (i + 1) * block_size)
        scores = Q @ K[:, part].transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores + np.where(mask[..., part], 0.0, -1e9)
        state.update(scores, V[:, part])
    return state.result()


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 6, 4))
    print(np.allclose(attention(q, k, v, 2), attention(q, k, v, 6)))
