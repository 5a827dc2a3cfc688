"""How a candidate's parameters hold what the reference learns.

A projection may be a Linear, a raw array of either orientation, a part of a fused one (``[q|k|v]``,
or interleaved head by head), or a list with one entry per head. All of these are the same numbers
with the axes in another order: ``Slot`` is that order, ``WeightLayout`` one for everything.
``harness.candidate.weights.candidates`` lists the layouts that fit a class's parameters.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.candidate.weights.learned import Axes, Learned, Norm, Projection
from harness.candidate.weights.parameter_names import projections_named_by
from harness.text import one_line

Floats = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """One parameter of the candidate, or those that hold the same thing for each head."""

    names: tuple[str, ...]
    pattern: str  #: the name, with * where it counts the heads
    shape: tuple[int, ...]  #: heads first when there are several parameters

    @property
    def of_linear(self) -> bool:
        """Whether it is named as torch's own layers name their matrix, which is out × in."""
        return self.pattern.endswith("weight")


@dataclasses.dataclass(frozen=True, slots=True)
class Slot:
    """What one group holds: arrays of the reference, and the order of their axes.

    ``order`` spells the axes as they lie in memory, "r" being the choice among the arrays; without
    an "r", several arrays lie one after the other along their last axis.
    """

    group: Group
    holds: tuple[str, ...]
    axes: tuple[Axes, ...]  #: of each array
    order: str

    def fill(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the values of the candidate's parameters for those of the reference."""
        arrays = [
            weights[name].reshape([length for _, length in axes])
            for name, axes in zip(self.holds, self.axes, strict=True)
        ]
        whole = np.stack(arrays) if "r" in self.order else _join(arrays)
        places = [self._labels.index(label) for label in self.order]
        filled = np.ascontiguousarray(whole.transpose(places)).reshape(self.group.shape)
        names = self.group.names
        return dict(zip(names, filled, strict=True)) if len(names) > 1 else {names[0]: filled}

    def read(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return what the candidate's parameters say in the reference's terms."""
        names = self.group.names
        held = np.stack([values[name] for name in names]) if len(names) > 1 else values[names[0]]
        lengths = dict(itertools.chain(*self.axes))
        lengths["r"] = len(self.holds)
        last = self.axes[0][-1][0]
        if "r" not in self.order:
            lengths[last] = sum(axes[-1][1] for axes in self.axes)
        apart = held.reshape([lengths[label] for label in self.order])
        whole = apart.transpose([self.order.index(label) for label in self._labels])
        if "r" in self.order or len(self.holds) == 1:
            arrays = list(whole) if "r" in self.order else [whole]
        else:
            ends = np.cumsum([axes[-1][1] for axes in self.axes])[:-1]
            arrays = np.split(whole, ends, axis=-1)
        return {
            name: array.reshape(self._shape(axes))
            for name, axes, array in zip(self.holds, self.axes, arrays, strict=True)
        }

    def _shape(self, axes: Axes) -> tuple[int, ...]:
        """Return the reference's shape of an array: (inputs, outputs), or one length."""
        if not self.holds[0].startswith("W_"):
            return (-1,)
        inputs = inputs_in(axes)
        return math.prod(length for label, length in axes if label in inputs), -1

    @property
    def held(self) -> tuple[str, ...]:
        """Names of the projections whose matrices it holds."""
        return tuple(name.removeprefix("W_") for name in self.holds)

    @property
    def _labels(self) -> str:
        base = "".join(label for label, _ in self.axes[0])
        return "r" + base if "r" in self.order else base


def _join(arrays: Sequence[Floats]) -> Floats:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=-1)


#: What has to be known to find a layout again at other sizes: pattern, arrays, order of axes.
Recipe = tuple[tuple[str, tuple[str, ...], str], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class WeightLayout:
    """Where everything that the reference learns lies in the candidate's parameters."""

    learned: tuple[Learned, ...]
    slots: tuple[Slot, ...]
    shared: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: K -> Q: Q serves both
    per_head: bool = False  #: one small projection serves every head
    of_one_head: str = ""  #: names of the projections that make one head, which serves all

    @property
    def recipe(self) -> Recipe:
        """What finds this layout again in an object of other sizes."""
        return tuple((s.group.pattern.replace("*", "0"), s.holds, s.order) for s in self.slots)

    @property
    def is_named(self) -> bool:
        """Whether the projections of attention were found under names that announce them."""
        matrices = [slot for slot in self.slots if slot.holds[0] in ("W_Q", "W_K", "W_V", "W_O")]
        return all(projections_named_by(slot.group.pattern) == slot.held for slot in matrices)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of projections that no parameter holds."""
        held = {name for slot in self.slots for name in slot.holds}
        return tuple(
            part.name
            for part in self.learned
            if isinstance(part, Projection)
            and part.matrix not in held
            and part.name not in self.shared
        )

    @property
    def norms_without_gain(self) -> int:
        """Number of norms of which no gain was found among the parameters."""
        held = {name for slot in self.slots for name in slot.holds}
        return sum(isinstance(part, Norm) and part.gain not in held for part in self.learned)

    def fill(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the values of the candidate's parameters for those of the reference."""
        if self._is_small:
            weights = {**weights, **self._blocks(weights)}
        return {k: v for slot in self.slots for k, v in slot.fill(weights).items()}

    def read(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return what parameters, or their gradients, say in the reference's terms."""
        found: dict[str, Floats] = {}
        for slot in self.slots:
            if all(name in values for name in slot.group.names):
                found |= slot.read(values)
        return found

    def effective_weights(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return what the candidate computes with, once it was given ``weights``.

        A bias that it does not have is 0, a gain 1, and an optional matrix the identity. Another
        matrix that it does not have stays, and so do those that another one stands in for, so that
        leaving them out is a mistake and not a convention.
        """
        defaults: dict[str, Floats] = {}
        for part in self.learned:
            if isinstance(part, Projection):
                defaults[part.bias] = np.zeros(part.shape[1])
                if part.optional and part.name in self.missing:
                    defaults[part.matrix] = np.eye(*part.shape)
            else:
                defaults |= {part.gain: np.ones(part.width), part.shift: np.zeros(part.width)}
        biased = {name for slot in self.slots for name in slot.holds}
        if self._is_small:
            held = {name: weights[name] for name in biased}
        else:
            held = self.read(self.fill(weights))
        for copy, original in self.shared.items():
            if f"b_{original}" in biased:
                held[f"b_{copy}"] = weights[f"b_{copy}"]
        return {**weights, **defaults, **held}

    @property
    def _is_small(self) -> bool:
        """Whether heads share what each should have of its own."""
        return self.per_head or bool(self.of_one_head)

    def _blocks(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return what every head shares: the first head's part of projections into heads."""
        blocks = {}
        for part in into_heads(self.learned):
            if self.of_one_head and part.name not in self.of_one_head:
                continue
            width = dict(part.outputs)["d"]
            inputs = width if self.per_head else part.shape[0]
            blocks[part.matrix] = weights[part.matrix][:inputs, :width]
            blocks[part.bias] = weights[part.bias][:width]
        return blocks

    def describe(self) -> str:
        """Say where the projections were found, e.g. "q, k, v, out; with bias"."""
        matrices = [slot for slot in self.slots if slot.holds[0].startswith("W_")]
        biased = any(slot.holds[0].startswith("b_") for slot in self.slots)
        listed = ", ".join(_describe(slot) for slot in matrices)
        return f"{listed}; {'with' if biased else 'without'} bias"


def into_heads(learned: Sequence[Learned]) -> list[Projection]:
    return [p for p in learned if isinstance(p, Projection) and "h" in dict(p.outputs)]


def _describe(slot: Slot) -> str:
    name = one_line(slot.group.pattern.removesuffix(".weight"), 60)
    if len(slot.holds) > 1:
        parts = "|".join(held.removeprefix("W_").lower() for held in slot.holds)
        apart = slot.order.replace("e", "")
        by_head = "r" in apart and len(slot.group.shape) > 0 and not apart.startswith("r")
        name += f" [{parts}]{' head by head' if by_head else ''}"
    elif not slot.group.of_linear and inputs_first(slot):
        name += " (in × out)"
    return name


def groups(parameters: Mapping[str, Floats], learned: Sequence[Learned]) -> list[Group]:
    """Put the candidate's parameters into groups, in the order of definition."""
    heads = max((dict(p.outputs)["h"] for p in into_heads(learned)), default=1)
    full = min((math.prod(p.shape) for p in into_heads(learned)), default=0)
    width = min((p.shape[1] for p in into_heads(learned)), default=0)
    numbered: Counter[tuple[str, tuple[int, ...]]] = Counter()
    places: dict[str, str] = {}
    for name, value in parameters.items():
        # One head's share is smaller than the whole; four Linears in a list are not four heads.
        if heads == 1 or value.size >= (full if value.ndim > 1 else width):
            continue
        for pattern in _patterns(name):
            numbered[pattern, value.shape] += 1
    found: dict[str, Group] = {}
    for name, value in parameters.items():
        for pattern in _patterns(name):
            if numbered[pattern, value.shape] == heads:
                places[name] = pattern
        pattern = places.get(name, name)
        names = (*found[pattern].names, name) if pattern in found else (name,)
        shape = (heads, *value.shape) if name in places else value.shape
        found[pattern] = Group(names, pattern, tuple(shape))
    return list(found.values())


def _patterns(name: str) -> Iterator[str]:
    parts = name.split(".")
    for place, part in enumerate(parts):
        if part.isdigit():
            yield ".".join((*parts[:place], "*", *parts[place + 1 :]))


def one_for_every_head(learned: Sequence[Learned]) -> list[Learned]:
    """Return what is learned when one head's width goes in, where the features split evenly."""
    into = into_heads(learned)
    if not into or any(dict(p.outputs)["h"] * dict(p.outputs)["d"] != p.shape[0] for p in into):
        return []
    small = {
        p.name: Projection(p.name, (("e", dict(p.outputs)["d"]),), (p.outputs[-1],), p.family)
        for p in into
    }
    return [small.get(part.name, part) for part in learned]


def with_one_head(learned: Sequence[Learned], names: str) -> list[Learned]:
    """Return what is learned when some projections make one head only."""
    into = {part.name: part for part in into_heads(learned) if part.name in names}
    narrow = {name: Projection(name, part.inputs, part.outputs[-1:]) for name, part in into.items()}
    return [narrow.get(part.name, part) for part in learned]


def inputs_first(slot: Slot) -> bool | None:
    """Tell whether the inputs come before the outputs, or None where they lie in between."""
    inputs = inputs_in(slot.axes[0])
    places = [slot.order.index(label) for label in inputs]
    others = [i for i, label in enumerate(slot.order) if label not in inputs]
    if max(places) < min(others):
        return True
    return False if min(places) > max(others) else None


def inputs_in(axes: Axes) -> str:
    """Return the letters of a matrix's inputs: its outputs are o, or h and d."""
    labels = [label for label, _ in axes]
    return "".join(label for label in labels if label != "o") if "o" in labels else "e"


def shared_axes(each: Sequence[Axes]) -> tuple[Axes, ...]:
    """Return the axes of arrays that share a parameter.

    W_O has its heads on the other side; stacked with the others it is any matrix of their size.
    """
    sizes = {math.prod(length for _, length in axes) for axes in each}
    mixed = len(sizes) == 1 and len({tuple(label for label, _ in axes) for axes in each}) > 1
    if not mixed:
        return tuple(each)
    into = next(axes for axes in each if axes[-1][0] == "d")
    return (into,) * len(each)


def rebuild_layout(
    recipe: Recipe, parameters: Mapping[str, Floats], learned: Sequence[Learned], like: WeightLayout
) -> WeightLayout | None:
    """Find a layout again in an object of other sizes, or return None where it does not fit."""
    small = (
        one_for_every_head(learned) if like.per_head else with_one_head(learned, like.of_one_head)
    )
    axes: dict[str, Axes] = {}
    for part in small:
        if isinstance(part, Projection):
            axes |= {part.matrix: (*part.inputs, *part.outputs), part.bias: part.outputs}
        else:
            axes |= {part.gain: (("o", part.width),), part.shift: (("o", part.width),)}
    projections = [part for part in learned if isinstance(part, Projection) and part.optional]
    optional = {name for part in projections for name in (part.matrix, part.bias)}
    by_pattern = {g.pattern.replace("*", "0"): g for g in groups(parameters, learned)}
    slots = []
    for pattern, holds, order in recipe:
        group = by_pattern.get(pattern)
        if group is None and optional.issuperset(holds):
            continue
        if group is None:
            return None
        slot = Slot(group, holds, shared_axes([axes[name] for name in holds]), order)
        size = sum(math.prod(length for _, length in one) for one in slot.axes)
        if math.prod(group.shape) != size:
            return None
        slots.append(slot)
    return dataclasses.replace(like, learned=tuple(learned), slots=tuple(slots))
