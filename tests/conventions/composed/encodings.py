"""Sinusoids, as people write them."""

from __future__ import annotations

import random

FLAWS = {
    "base-1000": ("base",),
    "sin-only": ("sin", "cos"),
}
FUNCTIONS = (
    "sinusoidal", "positional_encoding", "pos_encoding", "get_positional_encoding", "pe",
    "sinusoidal_encoding", "get_sinusoid_table", "make_encoding", "sinusoid_table",
)  # fmt: skip
CLASSES = ("PositionalEncoding", "PositionalEmbedding", "SinusoidalPE", "PosEnc", "Encoding")
TAKES = {
    "brief": ("length, d_model", "length", "d_model"),
    "seq": ("seq_len, d_model", "seq_len", "d_model"),
    "max": ("max_len, dim", "max_len", "dim"),
    "position": ("position, d_model", "position", "d_model"),
    "reversed": ("d_model, max_len", "max_len", "d_model"),
    "base": ("seq_len, d, n=10000", "seq_len", "d"),
}


def sinusoids(chance: random.Random, flaw: str) -> tuple[str, dict[str, str]]:
    """Compose a function, or a class that adds the table to its input."""
    choices = {
        "library": chance.choice(["numpy", "numpy", "torch"]),
        "takes": chance.choice(sorted(TAKES)),
        "form": chance.choice(["function", "function", "class"]),
        "shape": chance.choice(["two", "two", "leading"]),
        "columns": chance.choice(["in turn", "in turn", "halves"]),
    }
    base = "1000.0" if flaw == "base-1000" else "10000.0"
    second = "sin" if flaw == "sin-only" else "cos"
    torch = choices["library"] == "torch" or choices["form"] == "class"
    np = "torch" if torch else "np"
    takes, length, width = TAKES[choices["takes"]]
    if choices["form"] == "class":
        takes, length, width = "d_model, max_len=64", "max_len", "d_model"
    lines = [
        f"pos = {np}.arange({length}){'.float()' if torch else ''}[:, None]",
        f"rate = {base} ** (-{np}.arange(0, {width}, 2) / {width})",
        f"table = {np}.zeros(({length}, {width}))",
    ]
    if choices["columns"] == "halves":
        lines += [
            f"table[:, : {width} // 2] = {np}.sin(pos * rate)",
            f"table[:, {width} // 2 :] = {np}.{second}(pos * rate)",
        ]
    else:
        lines += [
            f"table[:, 0::2] = {np}.sin(pos * rate)",
            f"table[:, 1::2] = {np}.{second}(pos * rate)",
        ]
    head = "import torch\nfrom torch import nn\n\n\n" if torch else "import numpy as np\n\n\n"
    if choices["form"] == "class":
        choices["name"] = chance.choice(CLASSES)
        inside = "\n".join("        " + line for line in lines)
        return (
            f"{head}class {choices['name']}(nn.Module):\n    def __init__(self, {takes}):\n"
            f"        super().__init__()\n{inside}\n"
            "        self.register_buffer('pe', table[None])\n\n"
            "    def forward(self, x):\n        return x + self.pe[:, : x.shape[1]]\n"
        ), choices
    choices["name"] = chance.choice(FUNCTIONS)
    lines.append("return table[None]" if choices["shape"] == "leading" else "return table")
    inside = "\n".join("    " + line for line in lines)
    return f"{head}def {choices['name']}({takes}):\n{inside}\n", choices
