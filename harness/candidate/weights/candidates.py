"""Lists the layouts that fit a class's parameters, the most plausible first.

No name is ever demanded: names only decide what is tried first, then the order of definition and
the usual orientation do. ``harness.candidate.weights.trial`` finds out which layout is right.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate.weights.layouts import (
    Group,
    Slot,
    WeightLayout,
    groups,
    inputs_first,
    inputs_in,
    into_heads,
    one_for_every_head,
    shared_axes,
    with_one_head,
)
from harness.candidate.weights.learned import Axes, Learned, Norm, Projection
from harness.candidate.weights.parameter_names import projections_named_by, stem, words

Floats = np.ndarray[Any, Any]

#: More readings than this are not tried; the most plausible ones come first.
TRIES: Final = 96
#: The orders of four projections of one size, and half as many of fused ones.
NAMELESS_TRIES: Final = 36


def possible_layouts(
    parameters: Mapping[str, Floats], learned: Sequence[Learned]
) -> list[WeightLayout]:
    """List the readings of a candidate's parameters, the most plausible first.

    Names are believed where they allow a reading. Where not everything is there, readings are
    listed in which the output projection is missing, in which one projection serves as several,
    or in which a small one serves every head: mistakes, but of a kind that can be named.
    """
    found = _complete(parameters, learned, {}, by_name=True)
    found = [*found, *(swapped for layout in found[:1] for swapped in _swapped(layout))]
    found = found or _complete(parameters, learned, {})
    for names in _ONE_HEAD:
        if not found and any(dict(p.outputs)["h"] > 1 for p in into_heads(learned)):
            found = [
                dataclasses.replace(layout, learned=tuple(learned), of_one_head=names)
                for layout in _complete(parameters, with_one_head(learned, names), {}, by_name=True)
            ]
    if not found and (small := one_for_every_head(learned)):
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


def nameless_layouts(
    parameters: Mapping[str, Floats], learned: Sequence[Learned]
) -> list[WeightLayout]:
    """List the readings in which names count for nothing, those nearest to the names first.

    ``k, q, v = self.qkv(x).chunk(3, -1)`` is right whatever its layer is called.
    """
    return _complete(parameters, learned, {})[:NAMELESS_TRIES]


#: Projections that may make one head, which then serves all.
_ONE_HEAD: Final = ("Q", "KV", "K", "V")

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


def _complete(
    parameters: Mapping[str, Floats],
    learned: Sequence[Learned],
    shared: Mapping[str, str],
    *,
    by_name: bool = False,
) -> list[WeightLayout]:
    """Return every reading in which each projection has a place, the most plausible first.

    All Linears agree on one orientation, which is out × in but for exotic ones, and so do all
    raw arrays.
    """
    projections = [part for part in learned if isinstance(part, Projection)]
    norms = [part for part in learned if isinstance(part, Norm)]
    available = groups(parameters, learned)
    sizes = {part.name: math.prod(part.shape) for part in projections}
    kinds = {group.of_linear for group in available if len(group.shape) > 1}
    scored: dict[tuple[Slot, ...], tuple[float, WeightLayout]] = {}
    for linears, raw in itertools.product((False, True), (True, False)):
        if (linears and True not in kinds) or (not raw and False not in kinds):
            continue  # there are none, so that they need no second orientation
        search = _SlotSearch(by_name, sizes, linears, raw)
        for slots in search.place(projections, available):
            named = [*slots, *_biases(slots, available, projections)]
            for more in _norms(norms, named, available, parameters):
                placed = [*named, *more]
                everything = (*placed, *_loose_biases(slots, placed, available, projections))
                layout = WeightLayout(tuple(learned), everything, shared)
                scored.setdefault(everything, (_plausibility(slots, available), layout))
    return [one for _, one in sorted(scored.values(), key=lambda pair: -pair[0])]


def _swapped(layout: WeightLayout) -> Iterator[WeightLayout]:
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
class _SlotSearch:
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
        if size != sum(self.sizes[part.name] for part in held):
            return False
        said = projections_named_by(group.pattern)
        believed = self.by_name and size == sum(self.sizes.get(name, 0) for name in said)
        return not believed or set(said) == {part.name for part in held}

    def _slots(self, held: Sequence[Projection], group: Group) -> Iterator[Slot]:
        said = projections_named_by(group.pattern)
        if self.by_name and len(held) > 1 and said and said != tuple(p.name for p in held):
            return
        axes = shared_axes([(*part.inputs, *part.outputs) for part in held])
        inputs = frozenset(inputs_in(axes[0]))
        wanted = self.linears_inputs_first if group.of_linear else self.raw_inputs_first
        for order in orders(axes, inputs, group):
            slot = Slot(group, tuple(part.matrix for part in held), axes, order)
            if inputs_first(slot) in (wanted, None):
                yield slot


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


def _plausibility(slots: Sequence[Slot], available: Sequence[Group]) -> float:
    """Score a reading: by names first, then by the order of definition, then by orientation."""
    score = 0.0
    for slot in slots:
        if said := projections_named_by(slot.group.pattern):
            score += 8.0 if said == slot.held else -8.0
        if inputs_first(slot) is slot.group.of_linear:
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
    axes = shared_axes([part.outputs for part in held])
    fitting = orders(axes, frozenset(), group)
    inputs = inputs_in(slot.axes[0])
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
    is_shift = words(group.pattern)[-1:] in (["bias"], ["beta"], ["shift"], ["b"])
    is_vector = len(group.names) == 1 and value.size == width
    return is_vector and not is_shift and bool((value == 1).all())
