"""How a candidate's parameters hold what the reference learns.

A projection may be a Linear, a raw array of either orientation, a part of a fused one (``[q|k|v]``,
or interleaved head by head), or a list with one entry per head. All of these are the same numbers
with the axes in another order: ``Slot`` is that order. ``layouts`` lists the readings that fit the
shapes, the most plausible first; ``harness.modules`` tries them. No name is ever demanded: names
only decide what is tried first.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.learned import Axes, Learned, Norm, Projection
from harness.names import stem, told
from harness.text import one_line

Floats = np.ndarray[Any, Any]

#: More readings than this are not tried; the most plausible ones come first.
TRIES: Final = 96


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
        return dict(zip(self.holds, arrays, strict=True))

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
class Layout:
    """Where everything that the reference learns lies in the candidate's parameters."""

    learned: tuple[Learned, ...]
    slots: tuple[Slot, ...]
    shared: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: K -> Q: Q serves both
    per_head: bool = False  #: one small projection serves every head

    @property
    def recipe(self) -> Recipe:
        """What finds this layout again in an object of other sizes."""
        return tuple((s.group.pattern.replace("*", "0"), s.holds, s.order) for s in self.slots)

    @property
    def is_named(self) -> bool:
        """Whether the projections of attention were found under names that announce them."""
        matrices = [slot for slot in self.slots if slot.holds[0] in ("W_Q", "W_K", "W_V", "W_O")]
        return all(told(slot.group.pattern) == slot.held for slot in matrices)

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
        if self.per_head:
            weights = {**weights, **self._blocks(weights)}
        return {k: v for slot in self.slots for k, v in slot.fill(weights).items()}

    def read(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return what parameters, or their gradients, say in the reference's terms."""
        found: dict[str, Floats] = {}
        for slot in self.slots:
            if all(name in values for name in slot.group.names):
                found |= slot.read(values)
        shapes = self._shapes
        return {name: value.reshape(shapes.get(name, value.shape)) for name, value in found.items()}

    def in_force(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return what the candidate computes with, once it was given ``weights``.

        A bias that it does not have is 0 and a gain 1. A matrix that it does not have stays, and
        so do those that another one stands in for, so that leaving them out is a mistake and not
        a convention.
        """
        defaults = {}
        for part in self.learned:
            if isinstance(part, Projection):
                defaults[part.bias] = np.zeros(part.shape[1])
            else:
                defaults |= {part.gain: np.ones(part.width), part.shift: np.zeros(part.width)}
        held = {**weights} if self.per_head else self.read(self.fill(weights))
        biased = {name for slot in self.slots for name in slot.holds}
        for copy, original in self.shared.items():
            if f"b_{original}" in biased:
                held[f"b_{copy}"] = weights[f"b_{copy}"]
        return {**weights, **defaults, **held}

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        if self.per_head:
            return {}
        shapes: dict[str, tuple[int, ...]] = {}
        for part in self.learned:
            if isinstance(part, Projection):
                shapes |= {part.matrix: part.shape, part.bias: part.shape[1:]}
        return shapes

    def _blocks(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the first head's block of every projection into heads."""
        blocks = {}
        for part in _into_heads(self.learned):
            width = dict(part.outputs)["d"]
            blocks[part.matrix] = weights[part.matrix][:width, :width]
            blocks[part.bias] = weights[part.bias][:width]
        return blocks

    def describe(self) -> str:
        """Say where the projections were found, e.g. "q, k, v, out; with bias"."""
        matrices = [slot for slot in self.slots if slot.holds[0].startswith("W_")]
        biased = any(slot.holds[0].startswith("b_") for slot in self.slots)
        listed = ", ".join(_describe(slot) for slot in matrices)
        return f"{listed}; {'with' if biased else 'without'} bias"


def _into_heads(learned: Sequence[Learned]) -> list[Projection]:
    return [p for p in learned if isinstance(p, Projection) and "h" in dict(p.outputs)]


def _describe(slot: Slot) -> str:
    name = one_line(slot.group.pattern.removesuffix(".weight"), 60)
    if len(slot.holds) > 1:
        parts = "|".join(held.removeprefix("W_").lower() for held in slot.holds)
        apart = slot.order.replace("e", "")
        by_head = "r" in apart and len(slot.group.shape) > 0 and not apart.startswith("r")
        name += f" [{parts}]{' head by head' if by_head else ''}"
    elif not slot.group.of_linear and _inputs_first(slot):
        name += " (in × out)"
    return name


def groups(parameters: Mapping[str, Floats], learned: Sequence[Learned]) -> list[Group]:
    """Put the candidate's parameters into groups, in the order of definition."""
    heads = max((dict(p.outputs)["h"] for p in _into_heads(learned)), default=1)
    full = min((math.prod(p.shape) for p in _into_heads(learned)), default=0)
    width = min((p.shape[1] for p in _into_heads(learned)), default=0)
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


def orders(axes: Sequence[Axes], inputs: frozenset[str], group: Group) -> list[str]:
    """Return the orders of axes in which arrays with these axes fill the group's shape.

    Inputs and outputs do not share an axis, and within one axis the heads come first: a head is a
    slice of the features.
    """
    lengths = dict(axes[0])
    labels = [label for label in "hdo" if label in lengths and label not in inputs]
    if len(axes) > 1:
        if all(one == axes[0] for one in axes):
            labels, lengths["r"] = ["r", *labels], len(axes)
        else:
            lengths[axes[0][-1][0]] = sum(one[-1][1] for one in axes)
    within = [label for label in lengths if label in inputs]
    labels = [*labels, *within] if group.of_linear else [*within, *labels]
    live = [label for label in labels if lengths[label] > 1]
    ones = "".join(label for label in labels if lengths[label] == 1)
    target = [length for length in group.shape if length > 1]
    if math.prod(target) != math.prod(lengths.values()):
        return []
    found = []
    for permutation in itertools.permutations(live):
        parts = _grouping(permutation, lengths, target)
        if parts is None or (len(group.names) > 1 and parts[0] != ("h",)):
            continue
        mixed = any(0 < len(inputs & set(part)) < len(part) for part in parts)
        late = any("h" in p and "d" in p and p.index("h") > p.index("d") for p in parts)
        if not mixed and not late:
            found.append(ones + "".join(permutation))
    return found


def _grouping(
    labels: Sequence[str], lengths: Mapping[str, int], target: Sequence[int]
) -> list[tuple[str, ...]] | None:
    """Return the labels that make up each length of ``target``, or None if they do not."""
    parts, rest = [], list(labels)
    for length in target:
        part: list[str] = []
        while rest and math.prod(lengths[label] for label in part) < length:
            part.append(rest.pop(0))
        if math.prod(lengths[label] for label in part) != length:
            return None
        parts.append(tuple(part))
    return None if rest else parts


def layouts(parameters: Mapping[str, Floats], learned: Sequence[Learned]) -> list[Layout]:
    """List the readings of a candidate's parameters, the most plausible first.

    Names are believed where they allow a reading. Where not everything is there, readings are
    listed in which the output projection is missing, in which one projection serves as several,
    or in which a small one serves every head: mistakes, but of a kind that can be named.
    """
    found = _complete(parameters, learned, {}, by_name=True)
    found = [*found, *(swapped for layout in found[:1] for swapped in _swapped(layout))]
    found = found or _complete(parameters, learned, {})
    if not found and (small := _per_head(learned)):
        found = [
            dataclasses.replace(layout, learned=tuple(learned), per_head=True)
            for layout in _complete(parameters, small, {})
        ]
    for (missing, shared), by_name in itertools.product(_INCOMPLETE, (True, False)):
        if not found:
            kept = [part for part in learned if part.name not in missing]
            found = [
                dataclasses.replace(layout, learned=tuple(learned))
                for layout in _complete(parameters, kept, shared, by_name=by_name)
            ]
    return found[:TRIES]


#: Missing projections, and which of them another one stands in for.
_INCOMPLETE: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("O", {}),
    ("K", {"K": "Q"}),
    ("V", {"V": "K"}),
    ("KV", {"K": "Q", "V": "Q"}),
    ("KO", {"K": "Q"}),
    ("VO", {"V": "K"}),
    ("KVO", {"K": "Q", "V": "Q"}),
)


def _per_head(learned: Sequence[Learned]) -> list[Learned]:
    """Return what is learned when one head's width goes in, where the features split evenly."""
    into = _into_heads(learned)
    if not into or any(dict(p.outputs)["h"] * dict(p.outputs)["d"] != p.shape[0] for p in into):
        return []
    small = {
        p.name: Projection(p.name, (("e", dict(p.outputs)["d"]),), (p.outputs[-1],), p.family)
        for p in into
    }
    return [small.get(part.name, part) for part in learned]


def _complete(
    parameters: Mapping[str, Floats],
    learned: Sequence[Learned],
    shared: Mapping[str, str],
    *,
    by_name: bool = False,
) -> list[Layout]:
    """Return every reading in which each projection has a place, the most plausible first.

    All Linears agree on one orientation, which is out × in but for exotic ones, and so do all
    raw arrays.
    """
    projections = [part for part in learned if isinstance(part, Projection)]
    norms = [part for part in learned if isinstance(part, Norm)]
    available = groups(parameters, learned)
    sizes = {part.name: math.prod(part.shape) for part in projections}
    kinds = {group.of_linear for group in available if len(group.shape) > 1}
    scored: dict[tuple[Slot, ...], tuple[float, Layout]] = {}
    for linears, raw in itertools.product((False, True), (True, False)):
        if (linears and True not in kinds) or (not raw and False not in kinds):
            continue  # there are none, so that they need no second orientation
        search = _Search(by_name, sizes, linears, raw)
        for slots in search.place(projections, available):
            named = [*slots, *_biases(slots, available, projections)]
            for more in _norms(norms, named, available, parameters):
                placed = [*named, *more]
                everything = (*placed, *_loose_biases(slots, placed, available, projections))
                layout = Layout(tuple(learned), everything, shared)
                scored.setdefault(everything, (_plausibility(slots, available), layout))
    return [one for _, one in sorted(scored.values(), key=lambda pair: -pair[0])]


def _swapped(layout: Layout) -> Iterator[Layout]:
    """Yield the reading in which the names of Q and K are mixed up: only the product counts."""
    other = {"W_Q": "W_K", "W_K": "W_Q", "b_Q": "b_K", "b_K": "b_Q"}
    slots = tuple(
        dataclasses.replace(slot, holds=(other.get(slot.holds[0], slot.holds[0]),))
        if len(slot.holds) == 1
        else slot
        for slot in layout.slots
    )
    if layout.is_named and slots != layout.slots:
        yield dataclasses.replace(layout, slots=slots)


@dataclasses.dataclass(frozen=True, slots=True)
class _Search:
    """Finds places for projections, with one orientation for Linears and one for raw arrays."""

    by_name: bool
    sizes: Mapping[str, int]  #: number of weights of each projection
    linears_inputs_first: bool
    raw_inputs_first: bool

    def place(self, projections: list[Projection], available: list[Group]) -> Iterator[list[Slot]]:
        """Yield every way to find a place for the matrices of all projections."""
        if not projections:
            yield []
            return
        first = projections[0]
        kin = [
            part
            for part in projections[1:]
            if part.family == first.family != "" or (part.name == "O" and part.shape == first.shape)
        ]
        for group in available:
            left = [one for one in available if one is not group]
            for count in range(len(kin) + 1):
                for others in itertools.combinations(kin, count):
                    if not self._may_hold(group, (first, *others)):
                        continue
                    rest = [part for part in projections[1:] if part not in others]
                    for held in itertools.permutations((first, *others)):
                        for slot in self._slots(held, group):
                            yield from ([slot, *more] for more in self.place(rest, left))

    def _may_hold(self, group: Group, held: Sequence[Projection]) -> bool:
        """Tell whether a group has the size for these projections, and the name, if it counts."""
        size = math.prod(group.shape)
        if size != sum(math.prod(part.shape) for part in held):
            return False
        said = told(group.pattern)
        believed = self.by_name and size == sum(self.sizes.get(name, 0) for name in said)
        return not believed or set(said) == {part.name for part in held}

    def _slots(self, held: Sequence[Projection], group: Group) -> Iterator[Slot]:
        said = told(group.pattern)
        if self.by_name and len(held) > 1 and said and said != tuple(p.name for p in held):
            return
        axes = _axes([(*part.inputs, *part.outputs) for part in held])
        inputs = frozenset(_inputs_in(axes[0]))
        wanted = self.linears_inputs_first if group.of_linear else self.raw_inputs_first
        for order in orders(axes, inputs, group):
            slot = Slot(group, tuple(part.matrix for part in held), axes, order)
            if _inputs_first(slot) in (wanted, None):
                yield slot


def _inputs_first(slot: Slot) -> bool | None:
    """Tell whether the inputs come before the outputs, or None where they lie in between."""
    inputs = _inputs_in(slot.axes[0])
    places = [slot.order.index(label) for label in inputs]
    others = [i for i, label in enumerate(slot.order) if label not in inputs]
    if max(places) < min(others):
        return True
    return False if min(places) > max(others) else None


def _inputs_in(axes: Axes) -> str:
    """Return the letters of a matrix's inputs: its outputs are o, or h and d."""
    labels = [label for label, _ in axes]
    return "".join(label for label in labels if label != "o") if "o" in labels else "e"


def _axes(each: Sequence[Axes]) -> tuple[Axes, ...]:
    """Return the axes of arrays that share a parameter.

    W_O has its heads on the other side; stacked with the others it is any matrix of their size.
    """
    sizes = {math.prod(length for _, length in axes) for axes in each}
    mixed = len(sizes) == 1 and len({tuple(label for label, _ in axes) for axes in each}) > 1
    if not mixed:
        return tuple(each)
    into = next(axes for axes in each if axes[-1][0] == "d")
    return (into,) * len(each)


def _plausibility(slots: Sequence[Slot], available: Sequence[Group]) -> float:
    """Score a reading: by names first, then by the order of definition, then by orientation."""
    score = 0.0
    for slot in slots:
        if said := told(slot.group.pattern):
            score += 8.0 if said == slot.held else -8.0
        if _inputs_first(slot) is slot.group.of_linear:
            score -= 0.5
        if "r" in slot.order:
            score -= 0.1 * slot.order.replace("e", "").index("r")
    places = [available.index(slot.group) for slot in slots]
    ranks = list(zip(places, (slot.holds for slot in slots), strict=True))
    in_order = sum(1 for one, two in itertools.pairwise(ranks) if one[0] < two[0])
    natural = all(list(slot.held) == sorted(slot.held, key="QKVO12".find) for slot in slots)
    return score + in_order + 0.5 * natural


def _biases(
    slots: Sequence[Slot], available: Sequence[Group], projections: Sequence[Projection]
) -> list[Slot]:
    """Find the biases that are named as their matrices are."""
    by_matrix = {part.matrix: part for part in projections}
    free = _free(slots, available)
    found = []
    for slot in sorted(slots, key=lambda one: available.index(one.group)):
        held = [by_matrix[name] for name in slot.holds]
        same = [g for g in free if stem(g.pattern) == stem(slot.group.pattern)]
        bias = next((b for group in same if (b := _bias(slot, held, group))), None)
        if bias is not None:
            found.append(bias)
            free.remove(bias.group)
    return found


def _loose_biases(
    slots: Sequence[Slot],
    placed: Sequence[Slot],
    available: Sequence[Group],
    projections: Sequence[Projection],
) -> list[Slot]:
    """Find the biases of raw arrays by their order among what is left, if there is one for each."""
    by_matrix = {part.matrix: part for part in projections}
    biased = {name.removeprefix("b_") for slot in placed for name in slot.holds}
    bare = [s for s in slots if not s.group.of_linear and not biased & set(s.held)]
    loose = [group for group in _free(placed, available) if "." not in group.pattern]
    if len(loose) < len(bare):
        return []
    found = []
    for slot in sorted(bare, key=lambda one: available.index(one.group)):
        held = [by_matrix[name] for name in slot.holds]
        bias = next((b for group in loose if (b := _bias(slot, held, group))), None)
        if bias is not None:
            found.append(bias)
            loose.remove(bias.group)
    return found


def _free(slots: Sequence[Slot], available: Sequence[Group]) -> list[Group]:
    taken = {slot.group.pattern for slot in slots}
    return [group for group in available if group.pattern not in taken]


def _bias(slot: Slot, held: Sequence[Projection], group: Group) -> Slot | None:
    axes = _axes([part.outputs for part in held])
    fitting = orders(axes, frozenset(), group)
    inputs = _inputs_in(slot.axes[0])
    wanted = "".join(label for label in slot.order if label not in inputs)
    if not fitting:
        return None
    order = wanted if wanted in fitting else fitting[0]
    return Slot(group, tuple(part.bias for part in held), axes, order)


def _norms(
    norms: Sequence[Norm],
    placed: Sequence[Slot],
    available: Sequence[Group],
    parameters: Mapping[str, Floats],
) -> Iterator[list[Slot]]:
    """Find the norms: a gain is a vector that starts as ones; its shift comes next."""
    free = _free(placed, available)
    gains = [g for g in free if norms and _is_gain(g, norms[0].width, parameters)]
    chosen = gains[: len(norms)]
    for order in dict.fromkeys(((*norms[: len(chosen)],), tuple(reversed(norms[: len(chosen)])))):
        slots = []
        for gain, norm in zip(chosen, order, strict=True):
            axes: tuple[Axes, ...] = ((("o", norm.width),),)
            slots.append(Slot(gain, (norm.gain,), axes, "o"))
            later = free[free.index(gain) + 1 :]
            if later and later[0] not in gains and math.prod(later[0].shape) == norm.width:
                slots.append(Slot(later[0], (norm.shift,), axes, "o"))
        yield slots


def _is_gain(group: Group, width: int, parameters: Mapping[str, Floats]) -> bool:
    value = parameters[group.names[0]]
    return len(group.names) == 1 and value.size == width and bool((value == 1).all())


def again(
    recipe: Recipe, parameters: Mapping[str, Floats], learned: Sequence[Learned], like: Layout
) -> Layout | None:
    """Find a layout again in an object of other sizes, or return None where it does not fit."""
    small = _per_head(learned) if like.per_head else list(learned)
    axes: dict[str, Axes] = {}
    for part in small:
        if isinstance(part, Projection):
            axes |= {part.matrix: (*part.inputs, *part.outputs), part.bias: part.outputs}
        else:
            axes |= {part.gain: (("o", part.width),), part.shift: (("o", part.width),)}
    by_pattern = {g.pattern.replace("*", "0"): g for g in groups(parameters, learned)}
    slots = []
    for pattern, holds, order in recipe:
        group = by_pattern.get(pattern)
        if group is None:
            return None
        slot = Slot(group, holds, _axes([axes[name] for name in holds]), order)
        size = sum(math.prod(length for _, length in one) for one in slot.axes)
        if math.prod(group.shape) != size:
            return None
        slots.append(slot)
    return Layout(tuple(learned), tuple(slots), like.shared, like.per_head)
