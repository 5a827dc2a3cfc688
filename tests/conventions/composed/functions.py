"""Functions of attention, as people write them."""

from __future__ import annotations

import random
import textwrap

FLAWS = {
    "no-scale": ("no-scale",),
    "scale-by-d": ("scale-by-d",),
    "softmax-over-queries": ("softmax-axis", "softmax-over-queries", "axis"),
}
NAMES = (
    "scaled_dot_product_attention", "attention", "self_attention", "sdpa", "attn", "my_attention",
    "compute_attention", "dot_product", "attention_layer", "solve", "scaled_dot_product",
)  # fmt: skip
CALLS = {
    "brief": ("Q, K, V, mask=None", "Q", "K", "V", "mask"),
    "names": ("query, key, value, attn_mask=None", "query", "key", "value", "attn_mask"),
    "values-first": ("values, keys, queries, mask=None", "queries", "keys", "values", "mask"),
    "allow": ("q, k, v, allow=None", "q", "k", "v", "allow"),
    "required-mask": ("q, k, v, mask", "q", "k", "v", "mask"),
    "no-mask": ("q, k, v", "q", "k", "v", ""),
    "letters": ("a, b, c", "a", "b", "c", ""),
    "causal": ("q, k, v", "q", "k", "v", "causal"),
}
KINDS = ("numpy", "torch")


def torch_function(chance: random.Random, flaw: str) -> tuple[str, dict[str, str]]:
    """Compose attention for the torch assignment."""
    return _function(chance, flaw, chance.choice(["torch", "torch", "torch", "numpy"]))


def numpy_function(chance: random.Random, flaw: str) -> tuple[str, dict[str, str]]:
    """Compose attention for the numpy assignment."""
    return _function(chance, flaw, chance.choice(["numpy", "numpy", "numpy", "torch"]))


def _function(chance: random.Random, flaw: str, library: str) -> tuple[str, dict[str, str]]:
    choices = {
        "library": library,
        "name": chance.choice(NAMES),
        "call": chance.choice(sorted(CALLS)),
        "mask": chance.choice(["zero", "blocks", "added", "finite"]),
        "returns": chance.choice(["out", "pair", "pair"]),
        "form": chance.choice(["function", "function", "function", "class"]),
    }
    takes, query, key, value, mask = CALLS[choices["call"]]
    torch = library == "torch"
    turned = f"{key}.transpose(-2, -1)" if torch else f"np.swapaxes({key}, -1, -2)"
    root = f"{query}.shape[-1] ** 0.5"
    scale = {"no-scale": "", "scale-by-d": f" / {query}.shape[-1]"}.get(flaw, f" / {root}")
    body = f"scores = {query} @ {turned}{scale}\n"
    if mask == "causal":
        body += "n, m = scores.shape[-2:]\n"
        if torch:
            body += (
                "scores = scores.masked_fill(torch.tril(torch.ones(n, m)) == 0, float('-inf'))\n"
            )
        else:
            body += "scores = np.where(np.tri(n, m) == 0, -np.inf, scores)\n"
    elif mask:
        fill = _masked(choices["mask"], mask, torch)
        body += fill + "\n" if "=None" not in takes else f"if {mask} is not None:\n    {fill}\n"
    axis = -2 if flaw == "softmax-over-queries" else -1
    if torch:
        body += f"weights = torch.softmax(scores, dim={axis})\n"
    else:
        body += f"e = np.exp(scores - scores.max(axis={axis}, keepdims=True))\n"
        body += f"weights = e / e.sum(axis={axis}, keepdims=True)\n"
    body += f"return weights @ {value}{', weights' if choices['returns'] == 'pair' else ''}\n"
    head = "import torch\nfrom torch import nn\n\n\n" if torch else "import numpy as np\n\n\n"
    if choices["form"] == "class" and torch:
        name = "".join(part.title() for part in choices["name"].split("_"))
        inside = textwrap.indent(body, " " * 8)
        text = f"class {name}(nn.Module):\n    def forward(self, {takes}):\n{inside}"
        return head + text, choices
    choices["form"] = "function"
    return f"{head}def {choices['name']}({takes}):\n{textwrap.indent(body, '    ')}", choices


def _masked(meaning: str, mask: str, torch: bool) -> str:
    if meaning == "added":
        return f"scores = scores + {mask}"
    fill = "-1e9" if meaning != "zero" else ("float('-inf')" if torch else "-np.inf")
    blocked = mask if meaning == "blocks" else f"{mask} == 0"
    if torch:
        return f"scores = scores.masked_fill({blocked}, {fill})"
    return f"scores = np.where({blocked}, {fill}, scores)"


ONLINE_NAMES = (
    "online_attention", "flash_attention", "flash_attention_forward", "tiled_attention",
    "attention",
    "blockwise_attention", "flash_attn", "streaming_attention", "online_softmax_attention",
)  # fmt: skip


def online_function(chance: random.Random, flaw: str) -> tuple[str, dict[str, str]]:
    """Compose attention block by block."""
    choices = {
        "library": chance.choice(["numpy", "numpy", "torch"]),
        "name": chance.choice(ONLINE_NAMES),
        "block": chance.choice(["block_size", "block", "chunk_size", "Bc", "tile", "bs"]),
        "required": chance.choice(["=2", ""]),
        "mask": chance.choice(["", "mask", "mask"]),
        "meaning": chance.choice(["zero", "finite"]),
    }
    torch = choices["library"] == "torch"
    block = choices["block"]
    takes = f"q, k, v, {block}{choices['required']}" + (", mask=None" if choices["mask"] else "")
    np = "torch" if torch else "np"
    turned = "kj.transpose(-2, -1)" if torch else "np.swapaxes(kj, -1, -2)"
    keep = "keepdim=True" if torch else "keepdims=True"
    top = f".amax(-1, {keep})" if torch else f".max(-1, {keep})"
    body = f"m = {np}.full((*q.shape[:-1], 1), -1e30" + (", dtype=q.dtype)\n" if torch else ")\n")
    body += f"l = {np}.zeros_like(m)\n"
    body += f"o = {np}.zeros((*q.shape[:-1], v.shape[-1])" + (
        ", dtype=q.dtype)\n" if torch else ")\n"
    )
    body += f"for j in range(0, k.shape[-2], {block}):\n"
    body += f"    kj, vj = k[..., j:j + {block}, :], v[..., j:j + {block}, :]\n"
    body += f"    s = q @ {turned} / q.shape[-1] ** 0.5\n"
    if choices["mask"]:
        cut = f"mask[..., j:j + {block}] == 0"
        fill = f"s.masked_fill({cut}, -1e30)" if torch else f"np.where({cut}, -1e30, s)"
        body += f"    if mask is not None:\n        s = {fill}\n"
    body += f"    new = {np}.maximum(m, s{top})\n"
    body += f"    p, old = {np}.exp(s - new), {np}.exp(m - new)\n"
    body += f"    l = l * old + p.sum(-1, {keep})\n    o = o * old + p @ vj\n    m = new\n"
    body += "return o / l\n"
    head = "import torch\n\n\n" if torch else "import numpy as np\n\n\n"
    return f"{head}def {choices['name']}({takes}):\n{textwrap.indent(body, '    ')}", choices
