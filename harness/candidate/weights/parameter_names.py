"""What the names of parameters tell about their roles.

A hint, never a condition: ``told("attn.q_proj.weight")`` is ("Q",), ``told("blocks.0.weight")``
is ().
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Final

_WORDS: Final = {
    "Q": ("q", "qs", "query", "queries", "wq", "wqs"),
    "K": ("k", "ks", "key", "keys", "wk", "wks"),
    "V": ("v", "vs", "val", "value", "values", "wv", "wvs"),
    "O": ("o", "wo", "out", "outs", "output", "unify", "unifyheads", "dense", "final", "merge",
          "concat", "combine", "outproj"),
}  # fmt: skip
_ROLES: Final = {word: role for role, words in _WORDS.items() for word in words}
_FUSED: Final = re.compile(r"(?:w|to|in|c)?([qkv]{2,3})s?")
_PREFIXES: Final = ("to", "lin", "linear", "fc", "proj", "weight", "w", "b", "bias")
#: Words that say what kind of thing a parameter is, not which.
_KINDS: Final = frozenset(
    [
        "weight",
        "bias",
        "kernel",
        "w",
        "b",
        "proj",
        "projection",
        "linear",
        "lin",
        "fc",
        "layer",
        "attn",
        "attention",
        "mha",
        "self",
        "to",
        "heads",
        "head",
        "mat",
    ]
)


def words(name: str) -> list[str]:
    """Split a dotted name into lower-case words and numbers: "W_q.weight" is w, q, weight."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+|\d+", apart.lower())


@functools.cache
def projections_named_by(name: str) -> tuple[str, ...]:
    """Return the projections that a name announces, in order, or ()."""
    parts = words(name)
    for part in reversed(parts):
        if role := _role(part):
            return role
    pairs = set(itertools.pairwise(parts))
    if ("in", "proj") in pairs or ("c", "attn") in pairs:
        return ("Q", "K", "V")
    named = [part for part in parts if part not in _KINDS]
    if ("c", "proj") in pairs or (not named and {"proj", "fc", "linear"} & set(parts)):
        return ("O",)
    return ()


def _role(part: str) -> tuple[str, ...]:
    if part in _ROLES:
        return (_ROLES[part],)
    fused = _FUSED.fullmatch(part)
    if fused and len(set(fused[1])) == len(fused[1]):
        return tuple(fused[1].upper())
    for prefix in _PREFIXES:
        rest = part.removeprefix(prefix)
        if rest != part and rest in _ROLES:
            return (_ROLES[rest],)
    return ()


@functools.cache
def stem(name: str) -> tuple[str, ...]:
    """Return what the names of a matrix and its bias have in common, as W_q and b_q do."""
    kept = []
    for part in words(name):
        if part in ("weight", "bias", "kernel", "w", "b"):
            continue
        bare = part[1:] if part[:1] in ("w", "b") and _role(part[1:]) else part
        kept.append(bare)
    return tuple(kept)
