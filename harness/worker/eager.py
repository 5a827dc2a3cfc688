"""Makes torch run a submission as it is written, whatever compiler it asks for.

``torch.compile`` takes seconds, needs a compiler of C++, and fails over the operators that
``fused`` replaces; what ``torch.jit.script`` returns has no signature. Both change how fast code is
and not what it computes.
"""

from __future__ import annotations

from typing import Any


def run_as_written() -> None:
    """Make ``torch.compile`` and ``torch.jit.script`` return what they are given."""
    import torch

    torch.compile = _unchanged
    torch.jit.script = _unchanged  # type: ignore[assignment]


def _unchanged(model: Any = None, *arguments: Any, **options: Any) -> Any:
    """Return the function, module or class; without one, a decorator that does so."""
    return _unchanged if model is None else model
