"""One object of the submission's class, and the weights that it is given."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate.weights import State, WeightLayout
from harness.protocol import Call, Handle, Output, SetParameters, Step, Tensor, Value
from harness.text import one_line

Floats = np.ndarray[Any, Any]

#: Wire dtype -> the method of a torch module that converts it.
_CASTS: Final = {"f8": "double", "f4": "float", "f2": "half", "bf2": "bfloat16"}


@dataclasses.dataclass(frozen=True, slots=True)
class GradientResult:
    """Gradients of one call: of its arguments, and of what is learned, by the reference's names."""

    arguments: tuple[Output, ...]
    weights: Mapping[str, Tensor]


class Layer:
    """One object of the submission's class, in evaluation mode."""

    def __init__(
        self,
        number: int,
        made_of: tuple[Value, ...],
        layout: WeightLayout,
        parameters: Mapping[str, Floats],
        late: tuple[str, ...],
        made_by: Sequence[Step] = (),
    ) -> None:
        """Take what is known of the object; ``made_by`` are the steps that are yet to make it."""
        self.reference = Handle(number)
        self.made_of = made_of
        self.layout = layout
        self.parameters = parameters  #: as they were when it was made
        self.names = tuple(parameters)
        self.late = late  #: of those that came into being with the first call
        self.weights: Mapping[str, Floats] = {}
        self._made_by = list(made_by)
        self._pending: list[Step] = []

    def set(self, weights: Mapping[str, Floats]) -> None:
        """Give it weights, before its next call; ``weights`` then holds what it computes with."""
        values = {name: np.asarray(v, np.float64) for name, v in weights.items()}
        self.weights = self.layout.effective_weights(values)
        self._pending.append(self.filled(values))

    def filled(self, weights: Mapping[str, Floats]) -> SetParameters:
        """Return the step that gives it weights, these of the reference."""
        return SetParameters(self.reference, self.layout.fill(weights))

    def restore(self) -> None:
        """Give it its own weights again, before its next call."""
        if not any(isinstance(step, SetParameters) for step in self._pending):
            self._pending.append(self.filled(self.weights))

    def cast(self, dtype: str) -> None:
        """Convert it to another floating-point format, before weights that are yet to be set."""
        self._pending.insert(0, Call(object=self.reference, name=_CASTS[dtype]))

    def spell(self, names: Sequence[str]) -> str:
        """Spell some of its parameters' names, which are the candidate's words, in one line."""
        listed = ", ".join(one_line(name, 60) for name in names[:6])
        return f"{listed}, …" if len(names) > 6 else listed

    def pending(self) -> list[Step]:
        """Return the steps that must come before its next call, once."""
        steps = [*self._made_by, *self._pending]
        self._made_by, self._pending = [], []
        return steps

    def state(self, before: Sequence[Sequence[Floats]] = ()) -> State:
        """Return what it is in the reference's terms."""
        return State(self.made_of, self.weights, tuple(tuple(prompt) for prompt in before))
