import numpy as np
import matplotlib.pyplot as plt
import seaborn as sns


def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = np.matmul(Q, K.transpose(0, 2, 1)) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask == False, -1e9, scores)
    weights = softmax(scores, axis=-1)
    output = np.matmul(weights, V)
    return output, weights


def causal_mask(length):
    return np.tril(np.ones((length, length))) == 1


def padding_mask(lengths, max_len):
    batch = len(lengths)
    mask = np.zeros((batch, 1, max_len), dtype=bool)
    for b in range(batch):
        mask[b, :, :lengths[b]] = True
    return mask


def split_heads(x, h):
    batch, seq_len, d_model = x.shape
    assert d_model % h == 0
    return x.reshape(batch, seq_len, h, d_model // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, h, seq_len, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, seq_len, h * depth)


def positional_encoding(max_len, d):
    pos = np.arange(max_len)[:, np.newaxis]
    i = np.arange(d // 2)[np.newaxis, :]
    angles = pos / np.power(10000, (2 * i) / np.float32(d).astype(float))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def plot_weights(weights, title):
    plt.figure(figsize=(4, 4))
    sns.heatmap(weights, annot=True, fmt=".2f", cbar=False)
    plt.title(title)
    plt.xlabel("key")
    plt.ylabel("query")
    plt.tight_layout()
    plt.savefig(title.replace(" ", "_") + ".png")


np.random.seed(0)
Q = np.random.randn(1, 4, 8)
K = np.random.randn(1, 4, 8)
V = np.random.randn(1, 4, 8)
out, w = attention(Q, K, V, causal_mask(4))
print("weights:\n", w.round(3))
plot_weights(w[0], "causal attention")
plt.imshow(positional_encoding(50, 64), aspect="auto")
plt.show()
