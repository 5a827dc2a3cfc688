import numpy as np
from tqdm import tqdm

np.set_printoptions(precision=3, suppress=True)
print("numpy", np.__version__)


def softmax(x, axis=-1):
    mx = np.max(x, axis=axis, keepdims=True)
    ex = np.exp(x - mx)
    return ex / np.sum(ex, axis=axis, keepdims=True)

print(softmax(np.array([2., 1., 0.])), "<- should be about .665 .245 .09")
print(softmax(np.array([1000., 1000.])), "<- no nan!")


def attention(Q, K, V, mask=None):
    dk = K.shape[-1]
    S = Q @ np.transpose(K, (0, 2, 1)) / dk ** 0.5
    if mask is not None:
        S = np.where(mask, S, -1e9)
    P = softmax(S)
    return P @ V, P


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return np.array([np.arange(max_len) < l for l in lengths])[:, None, :]


rng = np.random.default_rng(7)
Q = rng.normal(size=(1, 4, 8)); K = rng.normal(size=(1, 4, 8)); V = rng.normal(size=(1, 4, 8))
o, p = attention(Q, K, V)
print(p[0, 0])
o, p = attention(Q, K, V, causal_mask(4))
print(p[0])
assert p[0, 0, 0] == 1


def split_heads(x, h):
    B, T, D = x.shape
    assert D % h == 0, f"{D} % {h} != 0"
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)

X = rng.normal(size=(2, 5, 16))
print("roundtrip", np.allclose(merge_heads(split_heads(X, 4)), X))


def positional_encoding(max_len, d):
    pos = np.arange(max_len)[:, None]
    div = np.power(10000, np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(pos / div), np.cos(pos / div)], axis=1)

P = positional_encoding(64, 16)
cos = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)
print("cos(p0,p1) =", cos(P[0], P[1]), " cos(p0,p8) =", cos(P[0], P[8]))

# does the scale matter? entropy of the weights for growing d
for d in tqdm([4, 16, 64, 256]):
    q = rng.normal(size=(1, 200, d)); k = rng.normal(size=(1, 32, d))
    _, w = attention(q, k, k)
    print(d, -(w * np.log(w)).sum(-1).mean())
