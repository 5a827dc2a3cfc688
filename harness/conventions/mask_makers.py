"""Functions that make masks: they may mean by them what the attention beside them takes."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from harness.candidate import Session
from harness.conventions.convention import Convention
from harness.protocol import Call, Tensor, Value
from harness.spec import EntryPoint

#: A maker gives one mask, and this is what a brief calls it.
_RETURNS: Final = ("mask",)
#: Arguments under which the last key of the first query is blocked, in the future or as padding.
_GIVEN: Final[dict[str, Value]] = {"length": 3, "lengths": np.array([1]), "max_len": 3}


def with_meaning_of_core(
    point: EntryPoint, convention: Convention, core: Convention, session: Session
) -> Convention:
    """Return how a maker of masks is called: inverted, where it marks what the core blocks.

    Beside attention by the brief's meaning, and where a maker gives masks by the brief's meaning
    all the same, nothing is changed.
    """
    opposite = {"additive", "keep" if core.blocking else "block"}
    asked = [_GIVEN.get(name) for name in point.parameters]
    if point.returns != _RETURNS or core.mask.meaning not in opposite:
        return convention
    if any(value is None for value in asked):
        return convention
    given = tuple(asked[place] for place in convention.order if place is not None)
    (answer,) = session.exchange([Call(name=convention.name, arguments=given)])
    mask = answer.outs[0] if answer.outs else None
    if not isinstance(mask, Tensor) or mask.values.ndim < 2:
        return convention
    first_query = mask.values.reshape(-1, mask.values.shape[-1])[0]
    marks_blocked = bool(first_query[-1] != 0) and bool(first_query[0] == 0)
    return dataclasses.replace(convention, inverts=marks_blocked)
