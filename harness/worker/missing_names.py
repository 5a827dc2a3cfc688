"""Names that everybody imports, and that a file uses without: a snippet, a notebook's later cells.

They are given to the submission, under the meaning that the field gives them.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import math
import typing
from typing import Any

import numpy as np

from .inert import Inert

TORCH_NAMES = {"F", "Tensor", "nn", "torch"}
_VALUES: dict[str, Any] = {
    "dataclass": dataclasses.dataclass,
    "display": Inert(),
    "functools": functools,
    "get_ipython": Inert(),
    "math": math,
    "np": np,
    "numpy": np,
    **{name: getattr(typing, name) for name in ("Any", "Callable", "Dict", "List", "Literal")},
    **{name: getattr(typing, name) for name in ("Optional", "Sequence", "Tuple", "Union")},
}


def missing_names(text: str) -> set[str]:
    """Return which of these names a file reads and nowhere binds; none if it does not parse."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    read: set[str] = set()
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return (read - bound) & (TORCH_NAMES | _VALUES.keys())


def value(name: str) -> Any:
    """Return what one of these names stands for."""
    if name not in TORCH_NAMES:
        return _VALUES[name]
    module = importlib.import_module(
        {"F": "torch.nn.functional", "nn": "torch.nn"}.get(name, "torch")
    )
    return module.Tensor if name == "Tensor" else module
