"""Classes of attention between projections, as people write them."""

from __future__ import annotations

import random
import textwrap

#: mistake -> what diagnosis may call it
FLAWS = {
    "no-scale": ("no-scale",),
    "scale-by-model": ("scale-by-model", "scale-by-d-model", "scale"),
    "softmax-over-queries": ("softmax-axis", "softmax-over-queries", "axis"),
    "merge-without-transpose": ("merge", "heads"),
    "key-as-value": ("value", "key"),
}
FLAWS_OF_ONE = {name: FLAWS[name] for name in ("no-scale", "softmax-over-queries")}

NAMES = (
    "MultiHeadAttention", "MultiheadAttention", "MHA", "SelfAttention", "Attention",
    "MultiHeadedAttention", "TransformerAttention",
    "MultiHeadSelfAttention", "Attn", "AttentionLayer", "MHSA", "Block",
)  # fmt: skip
#: parameters of the constructor, what the width and the heads are called inside
CONSTRUCTORS = {
    "brief": ("d_model, num_heads", "d_model", "num_heads"),
    "heads-first": ("n_head, d_model", "d_model", "n_head"),
    "dropout": ("d_model, num_heads, dropout", "d_model", "num_heads"),
    "optional-dropout": ("embed_dim, n_heads, dropout=0.1", "embed_dim", "n_heads"),
    "d_k": ("n_head, d_model, d_k, d_v, dropout=0.1", "d_model", "n_head"),
    "bias": ("dim, heads=8, qkv_bias=False", "dim", "heads"),
    "config": ("config", "config.n_embd", "config.n_head"),
    "dict": ("cfg", 'cfg["emb_dim"]', 'cfg["n_heads"]'),
    "context": (
        "d_in, d_out, context_length, dropout, num_heads, qkv_bias=False", "d_out", "num_heads",
    ),
    "block-size": ("n_embd, n_head, block_size", "n_embd", "n_head"),
}  # fmt: skip
CALLS = {
    "brief": ("q, k, v, mask=None", "q", "k", "v", "mask"),
    "names": ("query, key, value, attn_mask=None", "query", "key", "value", "attn_mask"),
    "values-first": ("values, keys, query, mask=None", "query", "keys", "values", "mask"),
    "required-mask": ("query, key, value, mask", "query", "key", "value", "mask"),
    "no-mask": ("q, k, v", "q", "k", "v", ""),
    "x": ("x", "x", "x", "x", ""),
    "x-mask": ("x, mask=None", "x", "x", "x", "mask"),
    "hidden": ("hidden_states, attention_mask=None", "hidden_states", "hidden_states",
               "hidden_states", "attention_mask"),
    "two": ("x, context", "x", "context", "context", ""),
    "two-mask": ("x, context, mask=None", "x", "context", "context", "mask"),
    "causal-x": ("x", "x", "x", "x", "causal"),
}  # fmt: skip
MASKS = {
    "zero": "scores = scores.masked_fill({m} == 0, float('-inf'))",
    "finite": "scores = scores.masked_fill({m} == 0, -1e9)",
    "blocks": "scores = scores.masked_fill({m}, -1e9)",
    "added": "scores = scores + {m}",
}
RETURNS = {"out": "out", "pair": "out, weights", "reversed": "weights, out"}


def multi_head(chance: random.Random, flaw: str) -> tuple[str, dict[str, str]]:
    """Compose a class of attention in several heads."""
    choices = {
        "name": chance.choice(NAMES),
        "made": chance.choice(sorted(CONSTRUCTORS)),
        "call": chance.choice(sorted(CALLS)),
        "mask": chance.choice(sorted(MASKS)),
        "returns": chance.choice(["out", "out", "pair", "reversed"]),
        "projections": chance.choice(["apart", "fused", "apart"]),
        "style": chance.choice(["view", "reshape", "split"]),
    }
    made, width, heads = CONSTRUCTORS[choices["made"]]
    takes, query, key, value, mask = CALLS[choices["call"]]
    if choices["projections"] == "fused" and not query == key == value:
        choices["projections"] = "apart"
    scale = {"no-scale": "1.0", "scale-by-model": "(self.h * self.d) ** -0.5"}.get(
        flaw, "self.d ** -0.5"
    )
    init = f"self.h = {heads}\nself.d = {width} // self.h\n"
    bias = ", bias=False" if choices["made"] == "bias" else ""
    inner = width
    if choices["projections"] == "fused":
        init += f"self.qkv = nn.Linear({width}, 3 * {inner}{bias})\n"
        body = f"q, k, v = self.qkv({query}).chunk(3, dim=-1)\n"
    else:
        init += "".join(f"self.w_{n} = nn.Linear({width}, {inner}{bias})\n" for n in "qkv")
        body = f"q, k, v = self.w_q({query}), self.w_k({key}), self.w_v({value})\n"
    init += f"self.out_proj = nn.Linear({inner}, {width}{bias})\n"
    if "dropout" in made:
        init += "self.drop = nn.Dropout(dropout)\n"
    if mask == "causal" and choices["made"] in ("context", "block-size"):
        length = "context_length" if choices["made"] == "context" else "block_size"
        init += f"self.register_buffer('past', torch.tril(torch.ones({length}, {length})))\n"
    if flaw == "key-as-value":
        body += "v = k\n"
    body += "b, t = q.shape[0], q.shape[1]\n"
    if choices["style"] == "split":
        body += "q, k, v = (torch.stack(z.split(self.d, -1), 1) for z in (q, k, v))\n"
    else:
        shaped = f"z.{choices['style']}(b, -1, self.h, self.d).transpose(1, 2)"
        body += f"q, k, v = ({shaped} for z in (q, k, v))\n"
    body += f"scores = q @ k.transpose(-2, -1) * {scale}\n"
    if mask == "causal":
        past = "self.past[:t, :t]" if "past" in init else "torch.tril(torch.ones(t, t))"
        body += f"scores = scores.masked_fill({past} == 0, float('-inf'))\n"
    elif mask:
        fill = MASKS[choices["mask"]].format(m=mask)
        body += fill + "\n" if "mask=None" not in takes else f"if {mask} is not None:\n    {fill}\n"
    body += f"weights = torch.softmax(scores, dim={-2 if flaw == 'softmax-over-queries' else -1})\n"
    if "dropout" in made:
        body += "weights = self.drop(weights)\n"
    body += "out = weights @ v\n"
    if flaw == "merge-without-transpose":
        body += "out = out.reshape(b, t, -1)\n"
    else:
        body += "out = out.transpose(1, 2).reshape(b, t, -1)\n"
    body += "out = self.out_proj(out)\n"
    body += f"return {RETURNS[choices['returns']]}\n"
    return _file(choices["name"], made, init, takes, body), choices


NAMES_OF_ONE = (
    "OneHeadAttention",
    "SelfAttention",
    "Head",
    "AttentionHead",
    "SingleHead",
    "CrossAttention",
)
CONSTRUCTORS_OF_ONE = {
    "brief": ("emb_size, qk_size, v_size", "emb_size", "qk_size", "v_size"),
    "one-width": ("hidden_size", "hidden_size", "hidden_size", "hidden_size"),
    "head-size": ("embed_dim, head_dim", "embed_dim", "head_dim", "head_dim"),
    "in-out": ("d_in, d_out, qkv_bias=False", "d_in", "d_out", "d_out"),
    "config": ("config", "config.n_embd", "config.head_size", "config.head_size"),
    "dropout": ("emb_size, qk_size, v_size, dropout", "emb_size", "qk_size", "v_size"),
}


def single_head(chance: random.Random, flaw: str) -> tuple[str, dict[str, str]]:
    """Compose a class of one head without an output projection."""
    choices = {
        "name": chance.choice(NAMES_OF_ONE),
        "made": chance.choice(sorted(CONSTRUCTORS_OF_ONE)),
        "call": chance.choice(sorted(CALLS)),
        "mask": chance.choice(sorted(MASKS)),
    }
    made, width, keys, values = CONSTRUCTORS_OF_ONE[choices["made"]]
    takes, query, key, value, mask = CALLS[choices["call"]]
    init = f"self.d = {keys}\n"
    init += f"self.query = nn.Linear({width}, {keys}, bias=False)\n"
    init += f"self.key = nn.Linear({width}, {keys}, bias=False)\n"
    init += f"self.value = nn.Linear({width}, {values}, bias=False)\n"
    body = f"q, k, v = self.query({query}), self.key({key}), self.value({value})\n"
    scale = "1.0" if flaw == "no-scale" else "self.d ** -0.5"
    body += f"scores = q @ k.transpose(-2, -1) * {scale}\n"
    if mask == "causal":
        body += "t = q.shape[1]\n"
        body += "scores = scores.masked_fill(torch.tril(torch.ones(t, t)) == 0, float('-inf'))\n"
    elif mask:
        fill = MASKS[choices["mask"]].format(m=mask)
        body += fill + "\n" if "mask=None" not in takes else f"if {mask} is not None:\n    {fill}\n"
    body += f"weights = torch.softmax(scores, dim={-2 if flaw == 'softmax-over-queries' else -1})\n"
    body += "return weights @ v\n"
    return _file(choices["name"], made, init, takes, body), choices


def _file(name: str, made: str, init: str, takes: str, body: str) -> str:
    indented = {key: textwrap.indent(text, " " * 8) for key, text in (("i", init), ("b", body))}
    return (
        "import torch\nfrom torch import nn\n\n\n"
        f"class {name}(nn.Module):\n"
        f"    def __init__(self, {made}):\n        super().__init__()\n{indented['i']}\n"
        f"    def forward(self, {takes}):\n{indented['b']}"
    )
