"""Composes one file: a spec, a number, and every choice is drawn from that number."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from tests.conventions.composed import encodings, functions, layers

#: Assignment -> what composes a file for it.
SPECS: dict[str, Callable[[random.Random, str], tuple[str, dict[str, str]]]] = {
    "torch_multi_head": layers.multi_head,
    "torch_single_head": layers.single_head,
    "torch_sdpa": functions.torch_function,
    "numpy_attention": functions.numpy_function,
    "online_softmax": functions.online_function,
    "positional_encoding": encodings.sinusoids,
}
#: Mistakes that a composed file may have -> the stem of the names that diagnosis gives them.
FLAWS = {
    "torch_multi_head": layers.FLAWS,
    "torch_single_head": layers.FLAWS_OF_ONE,
    "torch_sdpa": functions.FLAWS,
    "numpy_attention": functions.FLAWS,
    "online_softmax": {},
    "positional_encoding": encodings.FLAWS,
}


@dataclasses.dataclass(frozen=True)
class Composed:
    """One file."""

    spec: str
    name: str
    text: str
    flaw: str  #: "" for a right one
    choices: dict[str, str]


def compose(spec: str, number: int, *, wrong: bool | None = None) -> Composed:
    """Compose the file of a number: every third has a mistake, if nothing else is asked."""
    chance = random.Random(f"{spec}/{number}")
    flaws = sorted(FLAWS[spec])
    wants = number % 3 == 2 if wrong is None else wrong
    flaw = chance.choice(flaws) if wants and flaws else ""
    text, choices = SPECS[spec](chance, flaw)
    return Composed(spec, f"{spec}_{number}", text, flaw, choices)
