"""Flaws that are the same function, as far as any call of many draws tells."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.calls import Tensor
from harness.candidate import Recorded
from harness.compare import Expected, roundoff_of
from harness.matching import outputs
from harness.search import Explanation
from harness.spec import Spec

#: Two functions further apart than so many rounding bounds are two.
BOUNDS = 10


def separated(
    spec: Spec, one: Explanation, other: Explanation, recording: Iterable[Recorded]
) -> bool:
    """Tell whether any call separates two sets of flaws by more than 10 rounding bounds."""
    first, second = (spec.expect(spec.with_flaws(*flaws)) for flaws in (one, other))
    return any(apart(outputs(call, first), outputs(call, second), unit(call)) for call in recording)


def unit(call: Recorded) -> float:
    """Return the roundoff of the finest format among a call's arguments."""
    arrays = [a for a in call.arguments if isinstance(a, (Tensor, np.ndarray))]
    dtypes = [(a if isinstance(a, Tensor) else Tensor.of(a)).dtype for a in arrays]
    return min((roundoff_of(d) for d in dtypes if d.startswith("f")), default=roundoff_of("f8"))


def apart(
    one: tuple[Expected, ...] | str, other: tuple[Expected, ...] | str, roundoff: float
) -> bool:
    """Tell whether two functions gave different values for one call."""
    if isinstance(one, str) or isinstance(other, str):
        return type(one) is not type(other)
    return any(_apart(*pair, roundoff) for pair in zip(one, other, strict=False))


def _apart(one: Expected, other: Expected, roundoff: float) -> bool:
    if one.values.shape != other.values.shape:
        return True
    finite = np.isfinite(one.values)
    if (finite != np.isfinite(other.values)).any():
        return True
    wanted = finite
    for part in (one, other):
        wanted = wanted if part.compared is None else wanted & part.compared
    with np.errstate(all="ignore"):
        errors = np.where(wanted, np.abs(one.values - other.values), 0.0)
    if not errors.any():
        return False
    bounds = BOUNDS * roundoff * np.maximum(one.roundoffs, other.roundoffs)
    return bool((errors > bounds).any())
