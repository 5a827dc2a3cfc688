"""The assignments, by name. A spec is imported when it is asked for: torch is not needed to list them."""

from __future__ import annotations

import importlib
from types import MappingProxyType

from harness.errors import UsageError
from harness.spec import Spec

#: Name of an assignment -> one line about it.
TITLES = MappingProxyType(
    {
        "numpy_attention": "Attention in numpy, with masks, heads and a positional encoding",
        "torch_sdpa": "scaled_dot_product_attention in PyTorch, with masks and dropout",
    }
)


def load(name: str) -> Spec:
    """Return the spec of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in TITLES:
        raise UsageError(f"spec is {name!r}, expected one of {', '.join(TITLES)}")
    spec = importlib.import_module(f"specs.{name}").SPEC
    assert isinstance(spec, Spec)
    return spec
