# 分块注意力 + 在线 softmax：不保留 Tq×Tk 的矩阵
import numpy as np


def attention(Q, K, V, block_size, mask=None):
    批, 查询长, 维 = Q.shape
    键长 = K.shape[1]
    最大 = np.full((批, 查询长, 1), -np.inf)   # 每行目前的最大分数
    分母 = np.zeros((批, 查询长, 1))           # 指数和
    分子 = np.zeros((批, 查询长, V.shape[2]))  # 加权的 V
    for 起 in range(0, 键长, block_size):
        止 = min(起 + block_size, 键长)        # 最后一块可能不满
        分数 = Q @ K[:, 起:止].transpose(0, 2, 1) / np.sqrt(维)
        if mask is not None:
            分数 = np.where(mask[..., 起:止], 分数, -1e9)
        新最大 = np.maximum(最大, 分数.max(-1, keepdims=True))
        缩 = np.exp(最大 - 新最大)             # 旧的和要按新的最大值缩小
        指数 = np.exp(分数 - 新最大)
        分母 = 分母 * 缩 + 指数.sum(-1, keepdims=True)
        分子 = 分子 * 缩 + 指数 @ V[:, 起:止]
        最大 = 新最大
    return 分子 / 分母


rng = np.random.default_rng(7)
Q, K, V = rng.normal(size=(3, 1, 4, 8))
print("分块大小 1、3、4 的结果相同:", [attention(Q, K, V, b).round(3)[0, 0, 0] for b in (1, 3, 4)])
