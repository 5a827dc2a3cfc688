"""Whether a submission is written in numpy or in torch, and talking to it in its own arrays.

A file in the other library than the brief's is no mistake by itself. It is given its own arrays;
what only torch has, gradients and half precision, is then not asked of numpy.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from harness.protocol import Answer, Call, Cost, Gradients, Step, Tensor, Value

_USES: Final = {
    "torch": re.compile(r"^\s*(?:import|from)\s+torch\b|\btorch\.|\bnn\.Module\b", re.MULTILINE),
    "numpy": re.compile(r"^\s*(?:import|from)\s+numpy\b|\bnp\.", re.MULTILINE),
}


def library_of(texts: Iterable[str], brief: str) -> str:
    """Return "numpy" or "torch": the only one that files use, else the brief's."""
    whole = "\n".join(texts)
    used = [name for name, pattern in _USES.items() if pattern.search(whole)]
    return used[0] if len(used) == 1 else brief


class InSingle:
    """A session with a submission in torch: arrays of float64 go in as float32.

    Torch makes float32 where nothing else is said, so that what is given as float64 would meet it.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Exchange the steps, their arrays in single precision."""
        answers: list[Answer] = self._session.exchange([_in_single(step) for step in steps])
        return answers

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Measure a step, its arrays in single precision."""
        measured: tuple[Answer, int] = self._session.measure(_in_single(warm_up), _in_single(step))
        return measured

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def _in_single(step: Step) -> Step:
    if not isinstance(step, (Call, Gradients, Cost)):
        return step
    arguments = step.arguments
    changed: dict[int, Value] = {}  #: one array stays one
    for value in arguments:
        changed.setdefault(id(value), _single(value))
    named = {name: _single(value) for name, value in step.keywords.items()}
    return dataclasses.replace(
        step,
        arguments=tuple(changed[id(value)] for value in arguments),
        keywords=named,
    )


def _single(value: Value) -> Value:
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.float32)
    if isinstance(value, Tensor) and value.dtype == "f8":
        return Tensor(value.values.astype(np.float32), "f4", value.transposed)
    return value
