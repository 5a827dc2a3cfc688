"""The fixed preamble by which conventions of attention are found out.

For each layout and each meaning of a mask: one call without a mask, and three with the same mask
and different values. All of them are always sent. What they must show holds for wrong answers as
well: out has the shape that is asked for, does not move when a blocked value does, and moves when
an allowed one does.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.calls import Answer, Call, Tensor
from harness.candidate import Session
from harness.conventions import LAYOUTS, MASKS, AdaptingSession, Convention
from harness.draw import Draw
from harness.spec import EntryPoint, Spec

#: Lengths: all differ, so that a shape tells what an output is.
BATCH, HEADS, QUERIES, KEYS, WIDTH, VALUES = 2, 3, 5, 7, 6, 9
#: Keys that are blocked, and keys that are allowed, for every query.
BLOCKED, ALLOWED = [2, 5], [0, 4]


class Trials:
    """Calls of one entry point, and what can be read from their answers."""

    def __init__(self, point: EntryPoint, draw: Draw, spec: Spec) -> None:
        self._name = point.name
        self._leading = (BATCH, HEADS) if point.headed else (BATCH,)
        dtype = "f4" if spec.arrays == "torch" else "f8"
        query = draw.normal(*self._leading, QUERIES, WIDTH, dtype=dtype)
        key = draw.normal(*self._leading, KEYS, WIDTH, dtype=dtype)
        value = draw.normal(*self._leading, KEYS, VALUES, dtype=dtype)
        mask = np.ones((*self._leading, QUERIES, KEYS), dtype=bool)
        mask[..., BLOCKED] = False
        moved = []
        for keys in (BLOCKED, ALLOWED):
            other = value.copy()
            other[..., keys, :] += 3
            moved.append(other)
        self._calls = [(query, key, value), *((query, key, v, mask) for v in (value, *moved))]

    def conventions(self, named: Convention) -> Iterator[Convention]:
        """Yield the conventions to try, the brief's first."""
        layouts = ("batch",) if len(self._leading) > 1 else tuple(LAYOUTS)
        for layout, mask in itertools.product(layouts, MASKS):
            yield dataclasses.replace(named, layout=layout, mask=mask)

    def answers(self, convention: Convention, session: Session) -> list[Answer]:
        """Make all the calls under one convention; outputs come as the submission orders them."""
        adapting = AdaptingSession(session, {self._name: convention}, {})
        return adapting.exchange([Call(name=self._name, arguments=args) for args in self._calls])

    def outputs(self, answer: Answer) -> tuple[int | None, int | None]:
        """Return where out and weights are among an answer's outputs, by their shapes."""
        shapes = [out.values.shape if isinstance(out, Tensor) else None for out in answer.outs]
        return self._place(shapes, VALUES), self._place(shapes, KEYS)

    def _place(self, shapes: Sequence[Any], width: int) -> int | None:
        wanted = (*self._leading, QUERIES, width)
        # A layout with time first turns its first output round, whichever that is.
        turned = (wanted[1], wanted[0], *wanted[2:])
        return next((n for n, shape in enumerate(shapes) if shape in (wanted, turned)), None)

    def masks_consistently(self, answers: Sequence[Answer]) -> bool:
        """Tell whether blocked keys have no influence on out, and allowed ones have."""
        place, _ = self.outputs(answers[0])
        outs = [answer.outs[place] for answer in answers if place is not None and answer.outs]
        arrays = [out.values.astype(np.float64) for out in outs if isinstance(out, Tensor)]
        if len(arrays) < len(self._calls) or len({array.shape for array in arrays}) > 1:
            return False
        _, plain, blocked, allowed = arrays
        still = np.allclose(plain, blocked, rtol=1e-4, atol=1e-5, equal_nan=True)
        return still and not np.allclose(plain, allowed, rtol=1e-3, atol=1e-3, equal_nan=True)
