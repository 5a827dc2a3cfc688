"""Inputs of attention: what every criterion draws from.

Each criterion sees at least two shapes: one in which every length differs, so that a wrong axis
or a wrong shape cannot pass unseen, and a square one on which every flaw gives numbers.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from harness import Draw, Expected, Judge
from specs.reference import stages
from specs.reference.remembered import Remembered

Array = np.ndarray[Any, Any]

#: Wire dtypes of masks.
DTYPES = {"b1": np.dtype(bool), "i8": np.dtype(np.int64)}

#: What people call attention, the most telling first.
ATTENTION_NAMES = (
    "scaled_dot_product_attention",
    "scaled_dot_product",
    "scaled_dot_attention",
    "sdpa",
    "attention",
    "dot_product_attention",
    "self_attention",
    "compute_attention",
    "attention_forward",
    "masked_attention",
    "attn",
)


#: (out, weights) of the reference for a case.
_expected = Remembered(functools.partial(stages.expected, stages.REFERENCE))


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """Lengths of one attention: leading dimensions, queries, keys, d_k, d_v."""

    leading: tuple[int, ...]
    queries: int
    keys: int
    width: int
    values: int


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One call of attention: query, key, value and perhaps a mask (True or 1 = may attend)."""

    query: Array
    key: Array
    value: Array
    mask: Array | None = None

    @property
    def arguments(self) -> tuple[Array, ...]:
        """What the submission is called with."""
        given = (self.query, self.key, self.value)
        return given if self.mask is None else (*given, self.mask)

    def expected(self) -> tuple[Expected, Expected]:
        """Return (out, weights) of the reference."""
        out, weights = _expected(*self.arguments)
        return out, weights

    def replace(self, **changes: Array | None) -> Case:
        """Return the case with some arguments changed."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True, slots=True)
class AttentionCases:
    """Draws cases of one layout: ``heads`` is (), or the number of heads as a second dimension."""

    draw: Draw
    heads: tuple[int, ...]
    dtype: str
    mask_dtypes: tuple[str, ...] = ("b1",)  #: what masks may be made of

    @property
    def different(self) -> Shape:
        """All lengths differ."""
        return Shape((2, *self.heads), queries=5, keys=7, width=6, values=9)

    @property
    def square(self) -> Shape:
        """Tq = Tk and d_k = d_v, but T, d, heads and batch differ."""
        return Shape((2, *self.heads), queries=6, keys=6, width=4, values=4)

    @property
    def both(self) -> tuple[Case, Case]:
        """One case of each shape."""
        return self.of(self.different), self.of(self.square)

    @property
    def growing_cases(self) -> tuple[Case, ...]:
        """From the smallest call on; the scorecard shows the first that fails."""
        return (*(self.of(shape) for shape in self._small), *self.both)

    @property
    def cubes(self) -> tuple[Case, ...]:
        """As many queries, keys and features as heads: K transposed over heads answers, too."""
        return tuple(self.of(Shape((2, h), h, h, h, h)) for h in self.heads for _ in range(4))

    @property
    def ladder_masked(self) -> tuple[Case, ...]:
        """The same with masks."""
        shapes = (*self._small, self.different, self.square)
        return tuple(self.masked(shape) for shape in shapes)

    @property
    def _small(self) -> tuple[Shape, ...]:
        if self.draw.sources < 3:  # one text has no room for two sources of these widths
            return ()
        one = (1,) * (1 + len(self.heads))
        return Shape(one, 2, 2, 2, 2), Shape(one, 2, 3, 2, 2), Shape(one, 3, 3, 4, 3)

    def of(self, shape: Shape) -> Case:
        """Draw an unmasked case; logits are about N(0, 1.5²)."""
        normal, leading = self.draw.normal, shape.leading
        return Case(
            normal(*leading, shape.queries, shape.width, scale=1.25, dtype=self.dtype),
            normal(*leading, shape.keys, shape.width, scale=1.25, dtype=self.dtype),
            normal(*leading, shape.keys, shape.values, dtype=self.dtype),
        )

    def masked(self, shape: Shape) -> Case:
        """Draw a case with a full mask that differs for every item and head."""
        return self.of(shape).replace(
            mask=self.draw.mask(*shape.leading, shape.queries, shape.keys)
        )

    @property
    def both_masked(self) -> tuple[Case, ...]:
        """One masked case of each shape, beside unmasked ones; none where there are no masks."""
        if not self.draw.masks:
            return ()
        return self.masked(self.different), self.masked(self.square)

    def shifted(self, case: Case, by: float) -> Case:
        """Return the case with two queries, whose logits are shifted by ``by`` and by -``by``.

        Feature 0 is the same in every key, so that it moves all logits of a row together, which
        changes no weight.
        """
        key, query = case.key.copy(), case.query[..., :2, :].copy()
        key[..., 0] = 4
        width = query.shape[-1]
        query[..., 0, 0], query[..., 1, 0] = (sign * by / 4 * width**0.5 for sign in (1, -1))
        mask = None if case.mask is None else np.ascontiguousarray(case.mask[..., :2, :])
        return case.replace(query=query, key=key, mask=mask)

    def causal(self, length: int) -> Array:
        """Return the mask that lets row i see 0 … i, over batch and heads in full."""
        full = np.broadcast_to(np.tri(length, dtype=bool), (2, *self.heads, length, length))
        return np.ascontiguousarray(full)

    def ragged(self, shape: Shape) -> tuple[Array, Array]:
        """Draw a length for each item, all different, and the key mask (…, Tq, Tk) in full."""
        items = shape.leading[0]
        lengths = self.draw.permutation(shape.keys - 1)[:items] + 1
        keys = np.arange(shape.keys) < lengths.reshape(-1, *(1,) * len(self.heads), 1, 1)
        full = np.broadcast_to(keys, (*shape.leading, shape.queries, shape.keys))
        return lengths, np.ascontiguousarray(full)

    def masks(self, shape: Shape) -> tuple[Array, ...]:
        """Draw one mask of every shape that a brief may name, from (Tq, Tk) to the full one."""
        items, *heads = shape.leading
        ones = (1,) * len(heads)
        shapes = [
            (shape.queries, shape.keys),
            (items, *ones, 1, shape.keys),
            (items, *ones, shape.queries, shape.keys),
            (*shape.leading, shape.queries, shape.keys),
        ]
        masks = (self.draw.mask(*lengths) for lengths in dict.fromkeys(shapes))
        return tuple(mask.astype(DTYPES[dtype]) for mask in masks for dtype in self.mask_dtypes)

    def items(self, case: Case) -> tuple[Case, ...]:
        """Return each item of a case alone, with its part of the mask in full, as bools."""
        scores = (*case.query.shape[:-1], case.key.shape[-2])
        full = None if case.mask is None else np.broadcast_to(case.mask != 0, scores)
        return tuple(
            Case(
                case.query[item : item + 1],
                case.key[item : item + 1],
                case.value[item : item + 1],
                None if full is None else np.ascontiguousarray(full[item : item + 1]),
            )
            for item in range(len(case.query))
        )


def judge_case(judge: Judge, returned: Any, case: Case) -> None:
    """Require out to be what the reference gives for the case."""
    judge.close(returned["out"], case.expected()[0], "out")


def own(judge: Judge, returned: Any, case: Case, name: str = "out") -> Expected:
    """Return what the submission itself gave for a case, as what another call must agree with.

    Criteria other than ``definition`` compare a submission with itself where they can: one that
    forgot the scale fails the criteria about the scale, and passes the others. Both sides
    round, hence twice the bound.
    """
    width = case.value.shape[-1] if name == "out" else case.key.shape[-2]
    output = judge.shape(returned[name], (*case.query.shape[:-1], width), name)
    reference = case.expected()[0 if name == "out" else 1]
    values = judge.finite(output, name).values.astype(np.float64)
    return Expected(values, 2 * reference.roundoffs, reference.compared)
