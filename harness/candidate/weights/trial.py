"""Finds out which layout of a class's parameters is right, by one probe.

The class and the reference are given the same weights and must give the same output. Where no
layout does that and the names do not tell, known mistakes are tried as well. Then the most
plausible layout stands, so that what is wrong shows in the checks and not here.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate.weights.layouts import WeightLayout
from harness.candidate.weights.learned import Learned, Norm, Projection, State, draw_weights
from harness.protocol import (
    Answer,
    Call,
    Handle,
    Output,
    SetParameters,
    Step,
    Tensor,
    Value,
)
from harness.spec import Draw, Expected, compare, shape_name
from harness.text import one_line

Floats = np.ndarray[Any, Any]
Arguments = tuple[Value, ...]
OutputReader = Callable[..., tuple[Expected, ...]]

#: So many parameters are set in one frame, whose header has a limit.
_IN_A_FRAME: Final = 128
#: How many readings of the parameters are tried with known mistakes.
_TRIES_WITH_FLAWS: Final = 24


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """What is known about a class: what it learns, and a call to learn its parameters' roles by."""

    learned: Callable[..., tuple[Learned, ...]]  #: of the constructor's arguments
    sizes: tuple[int, ...]  #: constructor arguments for the probe: all lengths differ
    example: Callable[..., Arguments]  #: (draw, *sizes) -> arguments of one call
    #: (state, *arguments) -> outputs: the reference and its other right forms, then known mistakes
    readings: Callable[[], Iterator[OutputReader]]
    forms: tuple[str, ...] = ("",)  #: what is said of each right form, e.g. "GELU by tanh"


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutTrial:
    """The probe of one class: every layout is filled with the same weights, and called."""

    name: str
    construction: Construction
    found: Sequence[WeightLayout]

    def frames(self, target: Handle) -> Iterator[list[Step]]:
        """Yield steps in pairs, one for each layout: give the object weights, and call it."""
        weights, arguments = self._weights, self._arguments
        size = max(1, _IN_A_FRAME // max(1, len(self.found[0].fill(weights))))
        for start in range(0, len(self.found), size):
            steps: list[Step] = []
            for layout in self.found[start : start + size]:
                steps.append(SetParameters(target, layout.fill(weights)))
                steps.append(Call(object=target, arguments=arguments))
            yield steps

    def choose(self, answers: Sequence[Answer]) -> tuple[WeightLayout, int]:
        """Return the layout with which the class does what the reference does, and which form."""
        if fitting := self.reproducing(answers):
            return fitting
        readings = itertools.islice(
            self.construction.readings(), len(self.construction.forms), None
        )
        tried = self._tried(answers)[:_TRIES_WITH_FLAWS]
        for reading in () if self.found[0].is_named else readings:
            for layout, out, state in tried:
                if _error(out, reading, state, self._arguments) < math.inf:
                    return layout, 0
        return self.found[0], 0

    def reproducing(self, answers: Sequence[Answer]) -> tuple[WeightLayout, int] | None:
        """Return the first layout with which the class does what a right form does, and which."""
        right = list(itertools.islice(self.construction.readings(), len(self.construction.forms)))
        for layout, out, state in self._tried(answers):
            errors = [_error(out, reading, state, self._arguments) for reading in right]
            if min(errors) < math.inf:
                return layout, errors.index(min(errors))
        return None

    def _tried(self, answers: Sequence[Answer]) -> list[tuple[WeightLayout, Output, State]]:
        """Return the layouts with which the class answered, its output, and its state."""
        sizes, weights = self.construction.sizes, self._weights
        return [
            (layout, answer.outs[0], State(sizes, layout.effective_weights(weights)))
            for layout, answer in zip(self.found, answers, strict=True)
            if answer.raised is None and answer.outs
        ]

    @property
    def _weights(self) -> dict[str, Floats]:
        learned = self.construction.learned(*self.construction.sizes)
        return draw_weights(learned, Draw("weights", self.name))

    @property
    def _arguments(self) -> Arguments:
        return self.construction.example(Draw("arguments", self.name), *self.construction.sizes)


def _error(out: Output, reading: OutputReader, state: State, arguments: Arguments) -> float:
    """Return by how many rounding bounds an output is off, inf where it is something else."""
    if not isinstance(out, Tensor):
        return math.inf
    try:
        with np.errstate(all="ignore"):
            expected = reading(state, *arguments)[0]
            if out.values.shape != expected.values.shape:
                return math.inf
            # What is a tenth off needs no bound, which costs more than the values.
            if np.abs(out.values - expected.values).max() > 0.1 * np.abs(expected.values).max():
                return math.inf
            return compare(out, expected, "out")
    except Exception:  # wrong, or a mistake that needs other shapes, or torch
        return math.inf


def unreadable(name: str, parameters: Mapping[str, Floats], learned: Sequence[Learned]) -> str:
    """Say what was seen and what was expected, where no layout fits."""
    if not parameters:
        return (
            f"{name} has no parameters once it is made, expected projections made in __init__; "
            "layers made in forward are new in every call and never trained"
        )
    listed = list(parameters.items())
    seen = ", ".join(
        f"{one_line(each, 60)} {shape_name(value.shape)}" for each, value in listed[:12]
    )
    more = f" and {len(listed) - 12} more" if len(listed) > 12 else ""
    wanted = ", ".join(
        f"{part.name} {shape_name(part.shape)}" for part in learned if isinstance(part, Projection)
    )
    norms = sum(isinstance(part, Norm) for part in learned)
    wanted += f" and {norms} norms" if norms else ""
    return f"{name} has the parameters {seen}{more}, expected projections {wanted}"
