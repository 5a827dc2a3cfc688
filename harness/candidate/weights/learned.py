"""What a class learns, in the reference's own terms.

Candidates name and lay out their parameters as they like. Here they have one spelling: a
projection Q is the matrix ``W_Q`` (inputs × outputs) and the bias ``b_Q``; a norm 1 is ``gain_1``
and ``shift_1``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from harness.spec import Draw

Floats = np.ndarray[Any, Any]
Axes = tuple[tuple[str, int], ...]

#: Large enough that logits are of size 1 and every mistake shows: with weights of 0.02 a missing
#: scale moves the output by 4e-5, with these by more than 1.
SIZE: Final = 0.4


@dataclasses.dataclass(frozen=True, slots=True)
class Projection:
    """A linear map. Its axes have a letter and a length: e in, h heads, d head width, o out."""

    name: str
    inputs: Axes
    outputs: Axes
    family: str = ""  #: projections of one family may share a parameter, as in ``qkv``
    optional: bool = False  #: a class may do without: then it is the identity

    @property
    def matrix(self) -> str:
        """Name of the matrix, inputs × outputs."""
        return f"W_{self.name}"

    @property
    def bias(self) -> str:
        """Name of the bias, one number per output."""
        return f"b_{self.name}"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of inputs and of outputs."""
        return _product(self.inputs), _product(self.outputs)


@dataclasses.dataclass(frozen=True, slots=True)
class Norm:
    """A LayerNorm over ``width`` features."""

    name: str
    width: int

    @property
    def gain(self) -> str:
        """Name of the factors."""
        return f"gain_{self.name}"

    @property
    def shift(self) -> str:
        """Name of the summands."""
        return f"shift_{self.name}"


Learned = Projection | Norm


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """An object of a class, as the reference sees it: what it was made of and what it holds."""

    made_of: tuple[Any, ...]  #: arguments of the constructor
    weights: Mapping[str, Floats]  #: float64, by the reference's names
    #: What the object was fed before this call, one tuple of arrays per prompt; the last of them
    #: is the prompt that the call goes on with.
    before: tuple[tuple[Floats, ...], ...] = ()


def draw_weights(learned: Iterable[Learned], draw: Draw) -> dict[str, Floats]:
    """Draw weights of real size: 0.4 · N(0, 1), gains around 1; float32 holds them exactly."""
    weights: dict[str, Floats] = {}
    for part in learned:
        match part:
            case Projection():
                weights[part.matrix] = draw.normal(*part.shape, scale=SIZE)
                weights[part.bias] = draw.normal(part.shape[1], scale=SIZE)
            case Norm():
                weights[part.gain] = 1 + draw.normal(part.width, scale=SIZE)
                weights[part.shift] = draw.normal(part.width, scale=SIZE)
    return {name: values.astype(np.float32).astype(np.float64) for name, values in weights.items()}


def _product(axes: Axes) -> int:
    return math.prod(length for _, length in axes)
