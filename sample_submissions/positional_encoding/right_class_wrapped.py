"""Position encodings behind one small class."""
import numpy as np


class Frequencies:
    base = 10000.0

    def __init__(self, d):
        assert d % 2 == 0, "d must be even"
        self.d = d
        self.inverse = self.base ** (-np.arange(d // 2) * 2 / d)

    def angles(self, positions):
        return np.asarray(positions).reshape(-1, 1) * self.inverse

    def table(self, n):
        angles = self.angles(range(n))
        return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(n, self.d)

    def turn(self, x, positions):
        c, s = np.cos(self.angles(positions)), np.sin(self.angles(positions))
        half = self.d // 2
        u, v = x[..., :half], x[..., half:]
        return np.concatenate([u * c - v * s, v * c + u * s], -1)


def sinusoidal(max_len, d):
    return Frequencies(d).table(max_len)


def rotary(x, positions):
    return Frequencies(x.shape[-1]).turn(x, positions)


def alibi_bias(num_heads, length):
    slopes = [2 ** (-8 * (h + 1) / num_heads) for h in range(num_heads)]
    d = np.subtract.outer(np.arange(length), np.arange(length)).astype(float)
    return np.stack([-m * d for m in slopes])


if __name__ == "__main__":
    print(sinusoidal(4, 8).round(3))
