import ast
import textwrap

import numpy as np
import pytest

from harness.parsing.child.edits import EDITS_CAP, KINDS, SOURCE_CAP, run

ATTENTION = """
    import numpy as np

    def softmax(x, axis=-1):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    def attention(Q, K, V, mask=None):
        d = Q.shape[-1]
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(d)
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        weights = softmax(scores)
        return weights @ V, weights
"""

TORCH = """
    import torch
    import torch.nn.functional as F

    def attention(q, k, v, mask=None, dropout_p=0.0, training=True):
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = F.softmax(scores, dim=-1)
        weights = F.dropout(weights, p=dropout_p, training=training)
        return weights @ v, weights
"""

HEADS = """
    def split(x, h):
        b, t, d = x.shape
        return x.reshape(b, t, h, d // h).transpose(0, 2, 1, 3)
"""

ENCODING = """
    import numpy as np

    def encoding(n, d):
        pos = np.arange(n)[:, None]
        i = np.arange(d // 2)[None, :]
        angle = pos / 10000 ** (2 * i / d)
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
"""

LOOPS = """
    import numpy as np

    def attention(Q, K, V, mask=None):
        B, Tq, d = Q.shape
        Tk = K.shape[1]
        out = np.zeros((B, Tq, V.shape[-1]))
        weights = np.zeros((B, Tq, Tk))
        for b in range(B):
            s = Q[b] @ K[b].T / np.sqrt(d)
            weights[b] = softmax(s)
            out[b] = weights[b] @ V[b]
        return out, weights
"""

CAUSAL = """
    import numpy as np

    def causal_mask(n):
        return np.tril(np.ones((n, n), dtype=bool), k=0)
"""

WIDTHS = """
    import numpy as np

    def attention(Q, K, V):
        b, n, d = Q.shape
        weights = softmax(Q @ K.transpose(0, 2, 1))
        out = np.zeros((b, n, V.shape[-1]))
        out += weights @ V
        return out
"""

MODULE = """
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self, p=0.0):
            super().__init__()
            self.dropout = nn.Dropout(p)

        def forward(self, q, k, v, mask=None):
            scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -1e9)
            weights = self.dropout(scores.softmax(dim=-1))
            return weights @ v, weights

    def attention(q, k, v, mask=None, dropout_p=0.0, training=True):
        layer = Attention(dropout_p)
        layer.train(training)
        return layer(q, k, v, mask)
"""

ONLINE = """
    import numpy as np

    def attention(Q, K, V, block_size):
        m = np.full((*Q.shape[:2], 1), -np.inf)
        l = np.zeros((*Q.shape[:2], 1))
        acc = np.zeros((*Q.shape[:2], V.shape[-1]))
        for start in range(0, K.shape[1], block_size):
            end = min(start + block_size, K.shape[1])
            scores = Q @ K[:, start:end].transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
            m_new = np.maximum(m, scores.max(axis=-1, keepdims=True))
            alpha = np.exp(m - m_new)
            p = np.exp(scores - m_new)
            l = l * alpha + p.sum(axis=-1, keepdims=True)
            acc = acc * alpha + p @ V[:, start:end]
            m = m_new
        return acc / l
"""

LAYERS = """
    from torch import nn

    class attention(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.q = nn.Linear(d, d)
            self.k = nn.Linear(d, d)
            self.v = nn.Linear(d, d)

        def forward(self, x, context):
            q, k, v = self.q(x), self.k(context), self.v(context)
            weights = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(dim=-1)
            return weights @ v
"""

IDLE = """
    from torch import nn

    class attention(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.q = nn.Linear(d, d)
            self.out = nn.Linear(d, d)

        def forward(self, x, v):
            weights = (self.q(x) @ x.transpose(-2, -1) / x.size(-1) ** 0.5).softmax(dim=-1)
            return self.out(weights @ v)
"""

TENSORS = """
    import torch
    from torch import nn

    class attention(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.q = nn.Parameter(torch.randn(d, d))
            self.heads = nn.ModuleList([nn.Linear(d, d)])
"""

CACHED = """
    import torch
    from torch import nn

    class attention(nn.Module):
        def forward(self, x, cache=None):
            q, k, v = self.q(x), self.k(x), self.v(x)
            if cache is not None:
                k = torch.cat([cache[0], k], dim=1)
            cache = {"k": k, "v": v}
            return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v, cache
"""

ROTARY = """
    import numpy as np

    def rotate_half(x):
        return np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)

    def encoding(x, positions):
        d = x.shape[-1]
        angles = np.repeat(np.outer(positions, 1 / 10000 ** (np.arange(0, d, 2) / d)), 2, axis=-1)
        return x * np.cos(angles) + rotate_half(x) * np.sin(angles)
"""

SINES = """
    import numpy as np

    def encoding(n, d):
        angle = np.arange(n)[:, None] / 10000 ** (np.arange(d) // 2 * 2 / d)
        return np.where(np.arange(d) % 2 == 1, np.cos(angle), np.sin(angle))
"""

LOOPED = """
    import math
    import numpy as np

    def encoding(n, d):
        pe = np.zeros((n, d))
        for pos in range(n):
            for i in range(0, d, 2):
                pe[pos, i] = math.sin(pos / 10000 ** (i / d))
                pe[pos, i + 1] = math.cos(pos / 10000 ** (i / d))
        return pe
"""

SLOPES = """
    import numpy as np

    def encoding(heads, n):
        slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
        return slopes[:, None, None] * -np.arange(n)
"""

BLOCK = """
    import torch
    import torch.nn.functional as F
    from torch import nn

    class attention(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.norm1 = nn.LayerNorm(d)
            self.norm2 = nn.LayerNorm(d)
            self.up = nn.Linear(d, d)
            self.down = nn.Linear(d, d)

        def feed(self, x):
            return self.down(torch.nn.functional.gelu(self.up(x)))

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            x = x + self.feed(self.norm2(x))
            return x
"""

MASK_FIRST = """if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax(scores)
"""

#: Kind, a source, a part of it, what is there instead, and what the edit makes of that, if it is
#: not the part.
BROKEN = [
    ("axis", ATTENTION, "e.sum(axis=axis, keepdims=True)", "e.sum(axis=0, keepdims=True)"),
    ("axis", TORCH, "F.softmax(scores, dim=-1)", "F.softmax(scores)"),
    ("axis", ATTENTION, "x.max(axis=axis, keepdims=True)", "x.max()"),
    ("keepdims", ATTENTION, "e.sum(axis=axis, keepdims=True)", "e.sum(axis=axis)"),
    ("extreme", ATTENTION, "x.max(", "x.min("),
    ("order", ATTENTION, "K.transpose(0, 2, 1)", "K.transpose(2, 1, 0)"),
    ("order", HEADS, ".transpose(0, 2, 1, 3)", ""),
    ("order", TORCH, "k.transpose(-2, -1)", "k.transpose(1, 3)"),
    (
        "order",
        ATTENTION,
        "K.transpose(0, 2, 1)",
        "K.reshape(K.shape[0], d, -1)",
        "K.swapaxes(-2, -1)",
    ),
    (
        "shape",
        HEADS,
        "x.reshape(b, t, h, d // h).transpose(0, 2, 1, 3)",
        "x.reshape(b, h, t, d // h)",
    ),
    (
        "shape",
        HEADS,
        "x.reshape(b, t, h, d // h).transpose(0, 2, 1, 3)",
        "x.reshape(t, b, h, d // h).transpose(1, 0, 2, 3)",
        "x.reshape(b, t, h, d // h)",
    ),
    (
        "subscripts",
        ATTENTION,
        "Q @ K.transpose(0, 2, 1)",
        "np.einsum('bqd,ckd->bqk', Q, K)",
        "np.einsum('bqd,bkd->bqk', Q, K)",
    ),
    ("operand", ATTENTION, "weights @ V", "weights @ K"),
    ("operand", ATTENTION, "return weights @ V", "return scores @ V"),
    ("exchanged", ATTENTION, "Q @ K.transpose(0, 2, 1)", "K @ Q.transpose(0, 2, 1)"),
    ("exchanged", ENCODING, "[np.sin(angle), np.cos(angle)]", "[np.cos(angle), np.sin(angle)]"),
    (
        "renamed",
        ATTENTION,
        "d = Q.shape[-1]",
        "d = Q.shape[-1]\n    Q, V = Q / d, V / d",
        "d = Q.shape[-1]\n    Q, K = Q / d, K / d",
    ),
    ("surplus", ENCODING, "pos / 10000", "pos / n / 10000"),
    ("unwrapped", ATTENTION, "weights @ V, weights", "weights @ V, weights.round(3)"),
    ("unwrapped", TORCH, "weights @ v, weights", "weights @ v.detach(), weights"),
    ("operator", ATTENTION, "/ np.sqrt(d)", "* np.sqrt(d)"),
    ("operator", ENCODING, "2 * i / d", "2 * i // d"),
    ("operator", TORCH, "mask == 0", "mask != 0"),
    ("regrouped", ENCODING, "10000 ** (2 * i / d)", "10000 ** 2 * i / d"),
    ("polarity", ATTENTION, "np.where(mask, scores, -1e9)", "np.where(mask, -1e9, scores)"),
    ("polarity", TORCH, "masked_fill(mask == 0,", "masked_fill(~(mask == 0),"),
    ("fill", ATTENTION, "-1e9", "-1e-9"),
    ("fill", ATTENTION, "-1e9", "float('-inf')"),
    ("fill", TORCH, "-1e9", "0"),
    ("masked", ATTENTION, "np.where(mask, scores, -1e9)", "scores + mask"),
    ("masked", ATTENTION, "np.where(mask, scores, -1e9)", "scores * mask"),
    ("masked", ATTENTION, "scores = np.where(mask, scores, -1e9)", "scores[~mask] = -1e9"),
    ("kept", ATTENTION, "scores = np.where(mask, scores, -1e9)", "np.where(mask, scores, -1e9)"),
    ("kept", ATTENTION, "scores = np.where(mask", "masked = np.where(mask"),
    ("kept", TORCH, "scores = scores.masked_fill(", "scores.masked_fill("),
    (
        "before_softmax",
        ATTENTION,
        MASK_FIRST,
        "weights = softmax(scores)\n    if mask is not None:\n        weights = weights * mask\n",
    ),
    ("scale", ATTENTION, " / np.sqrt(d)", " / d"),
    (
        "scale",
        ATTENTION,
        "Q @ K.transpose(0, 2, 1) / np.sqrt(d)",
        "Q @ K.transpose(0, 2, 1)",
        "Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])",
    ),
    ("scale", ATTENTION, "np.sqrt(d)", "np.sqrt(K.shape[1])", "np.sqrt(Q.shape[-1])"),
    ("maximum", ATTENTION, "np.exp(x - x.max(axis=axis, keepdims=True))", "np.exp(x)"),
    ("normalised", ATTENTION, "weights = softmax(scores)", "weights = 1 / (1 + np.exp(-scores))"),
    (
        "inward",
        ATTENTION,
        "weights @ V, weights",
        "softmax(scores @ V), weights",
        "softmax(scores) @ V, weights",
    ),
    (
        "left_out",
        ATTENTION,
        "weights = softmax(scores)\n",
        "weights = softmax(scores)\n    weights = weights.round(3)\n",
    ),
    ("condition", ATTENTION, "if mask is not None:", "if mask.any(axis=-1).all():", "if True:"),
    ("decorator", TORCH, "def attention", "@torch.no_grad()\ndef attention"),
    (
        "in_place",
        ATTENTION,
        "d = Q.shape[-1]",
        "d = Q.shape[-1]\n    Q /= d",
        "d = Q.shape[-1]\n    Q = Q / d",
    ),
    (
        "in_place",
        TORCH,
        "scores = q @ k",
        "q.mul_(0.5)\n    scores = q @ k",
        "q = q.mul(0.5)\n    scores = q @ k",
    ),
    ("copied", ATTENTION, "d = Q", "d = Q", "Q = Q.copy()\n    d = Q"),
    ("size", LOOPS, "np.zeros((B, Tq, Tk))", "np.zeros((B, Tk, Tk))"),
    ("size", HEADS, "x.reshape(b, t, h", "x.reshape(b, x.shape[0], h", "x.reshape(b, -1, h"),
    (
        "room",
        LOOPS,
        "np.zeros((B, Tq, V.shape[-1]))",
        "np.zeros_like(Q)",
        "np.zeros((*Q.shape[:-1], V.shape[-1]))",
    ),
    (
        "room",
        ONLINE,
        "np.zeros((*Q.shape[:2], V.shape[-1]))",
        "np.zeros((1, 1, Q.shape[-1]))",
        "np.zeros((1, 1, V.shape[-1]))",
    ),
    ("room", WIDTHS, "V.shape[-1]))\n    out += weights @ V", "d))\n    out += weights @ K"),
    ("bound", CAUSAL, "k=0", "k=-1"),
    ("bound", CAUSAL, "return", "pad = -n % 8\n    return", "pad = 0\n    return"),
    ("triangle", CAUSAL, "np.tril", "np.triu"),
    ("index", LOOPS, "K[b].T", "K[0].T"),
    ("slices", ONLINE, "p @ V[:, start:end]", "p @ V[:, :end]"),
    ("slices", ENCODING, "np.arange(n)[:, None]", "np.arange(n)[d]", "np.arange(n)[:d]"),
    (
        "bound",
        ONLINE,
        "range(0, K.shape[1], block_size)",
        "range(K.shape[1] // block_size)",
        "range((K.shape[1] + block_size - 1) // block_size)",
    ),
    ("rescaled", ONLINE, "l = l * alpha + p.sum", "l = l + p.sum"),
    ("rescaled", ONLINE, "l = l * alpha + p.sum", "l += p.sum"),
    ("rescaled", ONLINE, "l = l * alpha + p.sum", "l = p.sum"),
    ("rescaled", ONLINE, "return acc / l", "return acc"),
    ("growing", ONLINE, "np.full((*Q.shape[:2], 1), -np.inf)", "np.zeros((*Q.shape[:2], 1))"),
    ("growing", ONLINE, "np.maximum(m, scores.max(axis=-1, keepdims=True))", "scores.max()"),
    ("growing", ONLINE, "np.exp(m - m_new)", "np.exp(m_new - m)"),
    ("layer", LAYERS, "self.k(context)", "self.q(context)"),
    ("layer", LAYERS, "self.k(context)", "self.k(x)"),
    (
        "layer",
        LAYERS,
        "self.q(x), self.k(context), self.v(context)",
        "self.q(x), self.k(x), self.v(x)",
    ),
    (
        "layer",
        LAYERS.replace("x, context):", "x, y, z):"),
        "self.k(context), self.v(context)",
        "self.k(x), self.v(x)",
        "self.k(y), self.v(z)",
    ),
    ("normed", BLOCK, "self.attend(self.norm1(x))", "self.attend(x)"),
    ("normed", BLOCK, "self.feed(self.norm2(x))", "self.feed(x / x.std())"),
    (
        "normed",
        BLOCK,
        "x + self.attend(self.norm1(x))\n        x = x + self.feed(self.norm2(x))",
        "x + self.attend(x)\n        x = x + self.feed(x)",
    ),
    ("residual", BLOCK, "x + self.feed(", "self.feed("),
    (
        "residual",
        BLOCK,
        "x = x + self.attend(",
        "h = self.norm1(x)\n        x = h + self.attend(",
        "h = self.norm1(x)\n        x = x + self.attend(",
    ),
    ("norm_first", BLOCK, "x + self.attend(self.norm1(x))", "self.norm1(x + self.attend(x))"),
    (
        "norm_first",
        BLOCK,
        "x = x + self.attend(self.norm1(x))",
        "x = self.norm1(x)\n        x = x + self.attend(x)",
    ),
    ("activation", BLOCK, "gelu(", "relu("),
    ("activation", BLOCK, "torch.nn.functional.gelu(self.up(x))", "self.up(x)"),
    ("idle_part", BLOCK, "        x = x + self.feed(self.norm2(x))\n", ""),
    (
        "condition",
        ATTENTION,
        "return weights @ V",
        "if d:\n        scores = V\n    elif Q:\n        scores = K\n    return weights @ V",
        "if d:\n        scores = V\n    if Q:\n        scores = K\n    return weights @ V",
    ),
    ("after_heads", IDLE, "return self.out(weights @ v)", "return weights @ v"),
    ("registered", TENSORS, "nn.Parameter(torch.randn(d, d))", "torch.randn(d, d)"),
    ("registered", TENSORS, "nn.ModuleList([nn.Linear(d, d)])", "[nn.Linear(d, d)]"),
    (
        "causal",
        TORCH,
        "    weights = F.softmax(",
        "    weights = F.softmax(",
        "    scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool)"
        ".triu(scores.shape[-1] - scores.shape[-2] + 1), torch.finfo(scores.dtype).min)\n"
        "    weights = F.softmax(",
    ),
    (
        "bound",
        ATTENTION,
        "np.where(mask,",
        "np.where(np.tri(len(mask)) > np.tril(mask),",
        "np.where(np.tri(len(mask)) > np.tril(mask, k=scores.shape[-1] - scores.shape[-2]),",
    ),
    ("exchanged", CACHED, "[cache[0], k]", "[k, cache[0]]"),
    ("unwrapped", CACHED, "[cache[0], k]", "[cache[0].mean(0).expand_as(k), k]"),
    ("unwrapped", CACHED, "[cache[0], k]", "[cache[0].flip(0)[None], k]"),
    ("operand", CACHED, '{"k": k, "v": v}', '{"k": k, "v": k}'),
    (
        "left_out",
        TORCH,
        "    return weights",
        "    weights = weights.flip(0)\n    weights = weights.view(-1)\n    return weights",
    ),
    ("operand", LAYERS, "weights @ v", "weights @ k"),
    (
        "alternating",
        ENCODING,
        "np.concatenate([np.sin(angle), np.cos(angle)], axis=1)",
        "np.concatenate([np.sin(angle), np.cos(angle)], axis=1)",
        "np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d)",
    ),
    ("helper", ROTARY, "rotate_half(x) * np.sin", "x * np.sin"),
    ("helper", ROTARY, "np.outer(positions,", "np.outer(np.arange(len(x)),"),
    (
        "polarity",
        ATTENTION,
        "scores = np.where(mask, scores, -1e9)",
        "scores[mask] = -1e9",
        "scores[~mask] = -1e9",
    ),
    ("waves", ENCODING, "np.cos(angle)", "np.sin(angle)"),
    ("number", ENCODING, "10000", "1000"),
    ("number", ENCODING, "2 * i / d", "i / d"),
    ("start", ENCODING, "np.arange(n)", "np.arange(1, n + 1)"),
    ("angle", LOOPED, "math.cos(pos / 10000 ** (i / d))", "math.cos(pos / 10000 ** ((i + 1) / d))"),
    (
        "angle",
        LOOPED,
        "(i / d))\n            pe[pos, i + 1] = math.cos(pos / 10000 ** (i / d))",
        "(2 * i / d))\n            pe[pos, i + 1] = math.cos(pos / 10000 ** (2 * i / d))",
    ),
    (
        "phase",
        SINES,
        "np.where(np.arange(d) % 2 == 1, np.cos(angle), np.sin(angle))",
        "np.sin(angle)",
    ),
    (
        "turned",
        ROTARY,
        "rotate_half(x) * np.sin",
        "x * np.sin",
        "np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape) * np.sin",
    ),
    ("slopes", SLOPES, "2.0 ** (-8 * np.arange(1, heads + 1) / heads)", "np.linspace(1, 0, heads)"),
    (
        "slopes",
        SLOPES,
        "slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)\n"
        "    return slopes[:, None, None] *",
        "slopes = 2.0 ** (-8 / heads)\n    return np.tile(slopes, (heads, 1, 1)) *",
        "slopes = (2.0 ** (-8 * np.arange(1, heads + 1) / heads))[:, None, None]\n"
        "    return slopes *",
    ),
    ("flag", TORCH, "p=dropout_p, training=training)", "p=dropout_p)"),
    (
        "flag",
        TORCH,
        "    weights = F.dropout",
        "    if self.on:\n        weights = F.dropout",
        "    if training:\n        weights = F.dropout",
    ),
    ("dropout", LAYERS, "weights @ v", "F.dropout(weights, 0.1) @ v"),
    ("left_out", MODULE, "        scores = q", "        self.p = 0\n        scores = q"),
    ("flag", MODULE, "    layer.train(training)\n", ""),
    ("passed_on", MODULE, "layer(q, k, v, mask)", "layer(q, k, v)"),
    ("outputs", TORCH, "return weights @ v, weights", "return weights @ v"),
]


def edits(source, torch=False, entries=("attention", "encoding", "split", "causal_mask")):
    return run({"text": source, "entries": list(entries), "torch": torch})["edits"]


def made(edit, source):
    data = source.encode()
    for start, end, text in sorted(edit["changes"], reverse=True):
        data = data[:start] + text.encode() + data[end:]
    return data.decode()


def squeezed(source):
    return ast.dump(ast.parse(source))


@pytest.mark.parametrize("row", BROKEN, ids=[f"{row[0]}-{row[3]!r:.40}" for row in BROKEN])
def test_an_edit_of_the_kind_repairs_what_was_broken(row):
    kind, source, part, wrong, *right = row
    source = textwrap.dedent(source)
    broken = source.replace(part, wrong, 1)
    repaired = source.replace(part, right[0] if right else part, 1)
    results = [made(e, broken) for e in edits(broken, is_torch(source)) if e["kind"] == kind]
    assert squeezed(repaired) in [squeezed(result) for result in results]


def is_torch(source):
    return "torch" in source


def test_the_mask_gets_the_shape_of_the_scores():
    source = textwrap.dedent(ATTENTION)
    (edit,) = [edit for edit in edits(source) if edit["kind"] == "broadcast"]
    line = "        mask = np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))\n"
    assert line in made(edit, source)


def test_two_statements_change_places():
    source = textwrap.dedent(TORCH)
    one = "    weights = F.softmax(scores, dim=-1)\n"
    other = "    weights = F.dropout(weights, p=dropout_p, training=training)\n"
    broken = source.replace(one + other, other + one)
    assert source in [made(e, broken) for e in edits(broken, True) if e["kind"] == "sequence"]


def test_a_softmax_takes_the_place_of_an_exponential_and_its_sum():
    source = textwrap.dedent(ATTENTION).replace(
        "weights = softmax(scores)", "e = np.exp(scores)\n    weights = e / e.sum()"
    )
    results = [made(edit, source) for edit in edits(source) if edit["kind"] == "own_softmax"]
    assert any("weights = softmax(scores)" in result for result in results)


def test_dropout_moves_onto_the_weights():
    source = textwrap.dedent(TORCH)
    broken = source.replace("    weights = F.dropout(weights,", "    scores = F.dropout(scores,")
    results = [made(edit, broken) for edit in edits(broken, True) if edit["kind"] == "dropout"]
    assert any(
        "scores = scores\n" in result
        and "torch.nn.functional.dropout(weights, p=dropout_p, training=training)" in result
        for result in results
    )


def test_heads_that_do_not_divide_the_width_are_refused():
    source = textwrap.dedent(HEADS)
    (edit,) = [edit for edit in edits(source) if edit["kind"] == "guard"]
    assert "    if d % h:\n        raise ValueError(" in made(edit, source)


def test_sines_and_cosines_go_to_halves_where_they_alternate():
    source = textwrap.dedent("""
        import math, numpy as np

        def encoding(n, d):
            pe = np.zeros((n, d))
            for pos in range(n):
                for i in range(d // 2):
                    angle = pos / 10000 ** (2 * i / d)
                    pe[pos, 2 * i] = math.sin(angle)
                    pe[pos, 2 * i + 1] = math.cos(angle)
            return pe
    """)
    results = [made(edit, source) for edit in edits(source) if edit["kind"] == "halves"]
    assert any("pe[pos, i] = " in text and "pe[pos, d // 2 + i] = " in text for text in results)


def test_a_sum_of_exponentials_in_blocks_gets_a_running_maximum():
    source = textwrap.dedent("""
        import numpy as np

        def attention(Q, K, V, size):
            total = np.zeros((*Q.shape[:2], 1))
            out = np.zeros((*Q.shape[:2], V.shape[-1]))
            for start in range(0, K.shape[1], size):
                scores = Q @ K[:, start : start + size].transpose(0, 2, 1)
                p = np.exp(scores)
                total += p.sum(axis=-1, keepdims=True)
                out += p @ V[:, start : start + size]
            return out / total
    """)
    (edit,) = [edit for edit in edits(source) if edit["kind"] == "running"]
    names = {}
    exec(made(edit, source), names)
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 5, 4))
    scores = 1000 * q @ k.transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights @ v / weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(names["attention"](1000 * q, k, v, 2), expected)


def test_an_idle_parameter_takes_the_place_of_what_an_object_keeps():
    head, body = textwrap.dedent(CACHED).split("\n        q, k, v")
    body = body.replace("cache", "self.past").replace("v, self.past", "v, cache")
    body = body.replace("        return", "        cache = self.past\n        return")
    source = f"{head}\n        q, k, v{body}"
    (edit,) = [edit for edit in edits(source, True) if edit["kind"] == "passed_in"]
    assert made(edit, source).replace("        cache = cache\n", "") == textwrap.dedent(CACHED)


def test_heads_are_split_and_merged_by_transposing():
    source = textwrap.dedent("""
        def attention(q, v, b, t, h, d):
            q = q.reshape(b, h, t, d)
            out = q @ q.mT @ v
            return out.reshape(b, t, h * d)
    """)
    (edit,) = [edit for edit in edits(source, True) if edit["kind"] == "heads"]
    text = made(edit, source)
    assert "q = q.reshape(b, t, h, d).permute(0, 2, 1, 3)\n" in text
    assert "return out.permute(0, 2, 1, 3).reshape(b, t, h * d)\n" in text


def test_an_edit_says_what_the_statements_it_changes_are_about():
    source = textwrap.dedent(TORCH)
    about = {edit["description"]: edit["about"] for edit in edits(source, True)}
    assert "score" in about["`k.transpose(-2, -1)` becomes `k`"]
    assert "aggregate" in next(words for text, words in about.items() if text.startswith("`v` bec"))
    assert not any("aggregate" in words for text, words in about.items() if "masked_fill" in text)


def test_what_three_places_have_in_common_is_tried_in_all_of_them_before_one():
    lines = "".join(f"    {x} = {x}.reshape(b, h, -1, d).transpose(1, 2)\n" for x in "qkv")
    source = f"def attention(q, k, v, b, h, d):\n{lines}    return q @ k.mT @ v\n"
    found = [edit for edit in edits(source, True) if edit["kind"] == "order"]
    changed = [len(edit["changes"]) for edit in found if "transpose" not in edit["description"]]
    assert changed.index(3) < changed.index(1)


def test_the_same_chain_is_left_out_in_several_places_whatever_its_arguments():
    source = textwrap.dedent("""
        def attention(q, k, v, n, m):
            q = q.roll(n).view(n)
            k = k.roll(1).view(m + 1)
            return (q @ k.mT).softmax(-1) @ v
    """)
    results = [made(edit, source) for edit in edits(source, True) if edit["kind"] == "unwrapped"]
    assert any("q = q\n" in text and "k = k\n" in text for text in results)


def test_what_a_layer_is_used_for_again_gets_a_layer_of_its_own():
    source = textwrap.dedent(LAYERS).replace("self.k(context)", "self.q(context)")
    results = [made(edit, source) for edit in edits(source, True) if edit["kind"] == "own_layer"]
    line = "        self.q = nn.Linear(d, d)\n        self.k_proj = nn.Linear(d, d)\n"
    assert any(
        line in text and "self.q(x), self.k_proj(context), self.v(context)" in text
        for text in results
    )


def test_layers_made_for_every_call_are_made_once():
    source = textwrap.dedent(LAYERS).replace("self.k(context)", "nn.Linear(n, n)(context)")
    source = source.replace("        q, k, v", "        n = self.n\n        q, k, v")
    results = [made(edit, source) for edit in edits(source, True) if edit["kind"] == "hoisted"]
    lines = "        n = self.n\n        self.k_linear = nn.Linear(n, n)\n\n    def forward"
    assert any(lines in text and "self.k_linear(context)" in text for text in results)


def test_pairs_become_halves_and_halves_pairs():
    source = textwrap.dedent(ROTARY)
    joined = "np.concatenate([freqs, freqs], axis=-1)"
    repeated = "np.repeat(freqs, 2, axis=-1)"
    for one, other in ((joined, repeated), (repeated, joined)):
        text = source.replace("    d = x.shape[-1]\n", f"    freqs = x\n    d = {one}\n")
        results = [made(edit, text) for edit in edits(text) if edit["kind"] == "alternating"]
        assert text.replace(one, other) in results


def test_every_kind_is_tried_here():
    elsewhere = {"broadcast", "sequence", "own_softmax", "dropout", "guard", "halves"}
    elsewhere |= {"running", "heads", "own_layer", "hoisted", "passed_in"}
    assert {kind.__name__ for kind in KINDS} == {row[0] for row in BROKEN} | elsewhere


def test_the_same_slip_in_several_places_is_one_edit():
    source = textwrap.dedent(ATTENTION)
    broken = source.replace("axis=axis", "axis=-1")
    results = [made(edit, broken) for edit in edits(broken) if edit["kind"] == "axis"]
    assert source in results


def test_an_edit_leaves_all_else_as_it_was_written():
    source = textwrap.dedent(ATTENTION).replace("np.sqrt(d)", "d   # 缩放, «scaled»")
    for edit in edits(source):
        if edit["kind"] == "scale":
            assert "# 缩放, «scaled»" in made(edit, source)


def test_almost_every_edit_is_valid_python():
    for source in map(textwrap.dedent, (ATTENTION, TORCH, HEADS, ENCODING, LOOPS, CAUSAL, MODULE)):
        for edit in edits(source, is_torch(source)):
            compile(made(edit, source), edit["description"], "exec")


def test_only_what_the_failing_entries_need_is_edited():
    source = textwrap.dedent(ATTENTION + ENCODING)
    functions = {edit["function"] for edit in edits(source, entries=("encoding",))}
    assert functions <= {"encoding", ""}
    functions = {edit["function"] for edit in edits(source, entries=("attention",))}
    assert functions == {"attention", "softmax"}


def test_what_an_entry_needs_through_a_name_of_the_file_is_edited():
    source = textwrap.dedent(MODULE).replace("layer = Attention(dropout_p)", "layer = made")
    source += "\n\nmade = Attention()\n"
    assert "Attention" in {edit["function"] for edit in edits(source, True)}


def test_everything_is_edited_where_the_entries_are_unknown():
    functions = {edit["function"] for edit in edits(textwrap.dedent(ATTENTION), entries=("other",))}
    assert functions == {"attention", "softmax"}


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def attention(:",
        "x = 1",
        "\0",
        "def attention(q): return " + "(" * 500,
        "def attention(Q, K, V):\n    return Q" + " + K" * 4000,
        "def attention(Q, K, V): x = Q @ K; return x @ V",
        "def attention(Q, K, V):\n  if Q: return K @ V\n  else: return V @ K",
        "class attention:\n    def __call__(self, *a): return f'{a[0] @ a[1]}'",
        "def attention(Q, K, V):\r\n    s = Q @ K\r\n    return s @ V\r\n",
        "def attention(Q, K, V):\n\ts = Q @ \\\n\t\tK\n\treturn s @ V",
        "x" * (SOURCE_CAP + 1),
        "def attention(Q, K, V):\n" + "    Q = Q @ K\n" * 2000 + "    return Q",
    ],
    ids=range(13),
)
def test_odd_sources_give_edits_or_none(source):
    found = edits(source)
    assert len(found) <= EDITS_CAP
    for edit in found[:200]:
        assert made(edit, source) != source
