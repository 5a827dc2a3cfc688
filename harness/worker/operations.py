"""Counts the floating-point operations of a call with torch's own profiler.

Products of matrices and of elements count, sums do not. ``FlopCounterMode`` counts the same and
imports 800 modules at its first use, which takes a second; the profiler takes 8 ms.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any


def count(call: Callable[[], Any], torch: Any) -> int:
    """Return the operations of one call."""
    with _silent(), torch.autograd.profiler.profile(with_flops=True) as profile:
        call()
    return int(sum(event.flops or 0 for event in profile.key_averages()))


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep the profiler's remarks, which its library writes to standard error, out of the log."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
