# 位置编码：正弦、旋转、ALiBi
import numpy as np
import matplotlib.pyplot as plt


def sinusoidal(max_len, d):
    位置 = np.arange(max_len)[:, None]          # (L, 1)
    i = np.arange(d // 2)[None, :]              # (1, d/2)
    角度 = 位置 / np.power(10000, 2 * i / d)    # 波长从 2π 到 10000·2π
    pe = np.zeros((max_len, d))
    pe[:, 0::2] = np.sin(角度)
    pe[:, 1::2] = np.cos(角度)
    return pe


def rotary(x, positions):
    d = x.shape[-1]
    角度 = positions[:, None] / np.power(10000, np.arange(0, d, 2)[None, :] / d)
    偶, 奇 = x[..., 0::2], x[..., 1::2]
    结果 = np.zeros_like(x)
    结果[..., 0::2] = 偶 * np.cos(角度) - 奇 * np.sin(角度)
    结果[..., 1::2] = 偶 * np.sin(角度) + 奇 * np.cos(角度)
    return 结果


def alibi_bias(num_heads, length):
    斜率 = np.array([2 ** (-8 * (h + 1) / num_heads) for h in range(num_heads)])
    距离 = np.tril(np.arange(length)[:, None] - np.arange(length)[None, :])
    return -斜率[:, None, None] * 距离


pe = sinusoidal(64, 16)
print("p6前四维:", pe[6, :4].round(3))
plt.imshow(pe)
plt.show()
