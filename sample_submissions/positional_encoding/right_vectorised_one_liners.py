import numpy as np
freq = lambda d: 1e4 ** (-np.arange(0, d, 2) / d)
sinusoidal = lambda max_len, d: np.sin(np.repeat(np.arange(max_len)[:, None] * freq(d), 2, 1) + np.tile([0, np.pi / 2], d // 2))
rotary = lambda x, positions: (lambda a: x * np.cos(a) + np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape) * np.sin(a))(np.repeat(np.asarray(positions)[:, None] * freq(x.shape[-1]), 2, -1))
alibi_bias = lambda num_heads, length: -(2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads))[:, None, None] * np.abs(np.arange(length)[:, None] - np.arange(length))
