# 面试题：numpy 手写注意力
# 形状约定（先把形状钉住，代码只是翻译）
#   Q (批, 查询长度, d)   K (批, 键长度, d)   V (批, 键长度, dv)
#   分数/权重 (批, 查询长度, 键长度)          输出 (批, 查询长度, dv)
import numpy as np

极小 = -1e9


def softmax(x, axis=-1):
    """数值稳定版：先减最大值"""
    平移 = x - x.max(axis=axis, keepdims=True)
    分子 = np.exp(平移)
    分母 = 分子.sum(axis=axis, keepdims=True)
    return 分子 / 分母


def attention(Q, K, V, mask=None):
    维度 = Q.shape[-1]
    分数 = Q @ K.transpose(0, 2, 1) / np.sqrt(维度)     # 第一步 打分并缩放
    if mask is not None:
        分数 = np.where(mask, 分数, 极小)                # 看不见的位置换成极小值
    权重 = softmax(分数)                                 # 第二步 归一化
    return 权重 @ V, 权重                                # 第三步 加权求和


def causal_mask(length):
    """下三角：第 i 行只准看 0..i"""
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    """按长度表生成，真实词为 True"""
    位置 = np.arange(max_len)
    return 位置[None, None, :] < np.asarray(lengths)[:, None, None]


def split_heads(x, h):
    """先 reshape 再 transpose，顺序不能反"""
    批, 长, 宽 = x.shape
    if 宽 % h != 0:
        raise ValueError(f"宽度 {宽} 不能被头数 {h} 整除")
    return x.reshape(批, 长, h, 宽 // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    批, 头, 长, 每头 = x.shape
    return x.transpose(0, 2, 1, 3).reshape(批, 长, 头 * 每头)


def positional_encoding(max_len, d):
    """前一半正弦，后一半余弦"""
    位置 = np.arange(max_len)[:, None]
    序号 = np.arange(d // 2)[None, :]
    角度 = 位置 / np.power(10000, 2 * 序号 / d)
    return np.concatenate([np.sin(角度), np.cos(角度)], axis=1)
