"""An object's parameters: finding them, reading, setting, and gradients of what it computes.

With torch they are the parameters of a module and of modules or tensors in its plain lists and
dictionaries, which torch itself does not look into. Otherwise they are the arrays of floats
among its attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .values import NAMES_CAP

_DEPTH_CAP = 6


def find(owner: Any, torch: Any) -> dict[str, Any]:
    """Return the parameters of ``owner`` by dotted name, each once, in the order of definition."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for name, value in _walk("", owner, torch, _DEPTH_CAP, seen):
        if len(found) == NAMES_CAP:
            break
        found[name] = value
    return found


def _walk(
    name: str, value: Any, torch: Any, depth: int, seen: set[int]
) -> Iterator[tuple[str, Any]]:
    if id(value) in seen or depth < 0:
        return
    if _is_parameter(value, torch):
        seen.add(id(value))
        yield name, value
        return
    for part, child in _children(value, torch):
        seen.add(id(value))
        yield from _walk(f"{name}.{part}" if name else part, child, torch, depth - 1, seen)


def _is_parameter(value: Any, torch: Any) -> bool:
    if torch is not None and isinstance(value, torch.Tensor):
        # A buffer, e.g. a causal mask, does not ask for gradients.
        return bool(value.requires_grad and value.is_leaf)
    return torch is None and type(value) is np.ndarray and value.dtype.kind == "f"


def _children(value: Any, torch: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(str(key), child) for key, child in dict.items(value)]
    if isinstance(value, (list, tuple)):
        return [(str(place), child) for place, child in enumerate(value)]
    if torch is not None and isinstance(value, torch.nn.Module):
        plain = {key: child for key, child in vars(value).items() if not key.startswith("_")}
        return [*value._parameters.items(), *value._modules.items(), *plain.items()]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return list(vars(value).items())
    return []


def assign(owner: Any, names: list[str], values: list[Any], torch: Any) -> None:
    """Give the named parameters of ``owner`` new values, in place and in their own dtype.

    Raises:
        ValueError: there is no such parameter, or it has another shape.
    """
    found = find(owner, torch)
    for name, value in zip(names, values, strict=True):
        if name not in found:
            raise ValueError(f"parameter is {name!r}, expected one of {sorted(found)[:20]}")
        old = found[name]
        if tuple(old.shape) != tuple(value.shape):
            raise ValueError(f"{name} has shape {tuple(old.shape)}, not {tuple(value.shape)}")
        if torch is None:
            old[...] = value
        else:
            with torch.no_grad():
                old.copy_(value)


def gradients(
    call: Callable[[], Any], leaves: list[Any], cotangents: list[Any], torch: Any
) -> list[Any]:
    """Return the gradients of Σ output·cotangent with respect to each leaf, None where none is.

    Raises:
        ValueError: an output that has a cotangent is not a tensor of its shape.
    """
    for leaf in leaves:
        leaf.requires_grad_(True)
    with torch.enable_grad():
        returned = call()
        outputs = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if isinstance(returned, dict):
            outputs = list(returned.values())
        terms = [
            _term(place, outputs, cotangent, torch)
            for place, cotangent in enumerate(cotangents)
            if cotangent is not None
        ]
        total = sum(terms)
    if not isinstance(total, torch.Tensor) or not total.requires_grad or not leaves:
        return [None] * len(leaves)
    return list(torch.autograd.grad(total, leaves, allow_unused=True))


def _term(place: int, outputs: list[Any], cotangent: Any, torch: Any) -> Any:
    output = outputs[place] if place < len(outputs) else None
    if not isinstance(output, torch.Tensor) or output.shape != cotangent.shape:
        shape = tuple(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
        raise ValueError(f"output {place} is {shape}, expected shape {tuple(cotangent.shape)}")
    return (output * cotangent.to(output.dtype)).sum()
