"""How a submission spells what the brief asks: names, order, mask, layout, outputs.

A ``Convention`` says how one entry point is called, and what comes back. It never changes what is
computed: arguments are renamed, reordered or transposed, a mask is written in another form,
outputs are picked by position.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from harness.candidate.weights import projections_named_by, words
from harness.conventions.constructors import Argument
from harness.conventions.mask_forms import MaskForm
from harness.errors import NotOffered
from harness.protocol import Handle, Output, Tensor, Value
from harness.spec import EntryPoint

Floats = np.ndarray[Any, Any]
_Some = TypeVar("_Some", bound=Value | Output)


@dataclasses.dataclass(frozen=True, slots=True)
class Places:
    """Where the brief's parameters are: None for what an entry point does not have."""

    query: int | None = None
    key: int | None = None
    value: int | None = None
    mask: int | None = None

    @classmethod
    def of(cls, point: EntryPoint) -> Places:
        """Read them from the brief's names, e.g. Q, K, V, mask or x_q, x_kv, attn_mask."""
        found: dict[str, int] = {}
        for place, name in enumerate(point.parameters):
            for role in projections_named_by(name):
                found.setdefault(role, place)
            if "mask" in words(name):
                found.setdefault("mask", place)
        return cls(found.get("Q"), found.get("K"), found.get("V"), found.get("mask"))

    @property
    def source_count(self) -> int:
        """How many sources there are for queries, keys and values."""
        return len({self.query, self.key, self.value} - {None})


NOWHERE: Final = Places()
#: Values by which nothing is asked for: what every function does without the parameter.
NEUTRAL: Final[Mapping[str, tuple[Value, ...]]] = {
    "dropout_p": (0, 0.0),
    "training": (False, True),
    "axis": (-1,),
}
KEEP: Final = MaskForm()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How one entry point is called, and what comes back."""

    name: str  #: what the submission calls it
    #: brief position of each of the submission's parameters, None for one of its own
    order: tuple[int | None, ...]
    keywords: tuple[str, ...] = ()  #: names of the last of them, which take no positions
    parameters: tuple[str, ...] = ()  #: the brief's; what has no place among ``order`` is absent
    constructor: tuple[Argument, ...] = ()  #: what a class is made of; () for the brief's sizes
    #: parameters of the submission's own, and what they are given
    constants: tuple[tuple[str, Value], ...] = ()
    is_class: bool = False  #: a class stands for a function: an object is made for each call
    is_table: bool = False  #: it gives a table of positions, whose axis of one item does not count
    deviates: bool = False  #: it is not written by the brief
    inverts: bool = False  #: it makes masks, in which True is what the brief has as False
    #: of a table that objects of a class add to their input, where its rows are: "", "batch" or
    #: "time-first"
    table: str = ""
    causal: bool | None = None  #: whether what leaves no choice is causal
    sources: int = 3  #: how many it takes: of fewer, one serves keys and values, or all
    places: Places = NOWHERE
    headed: bool = False  #: arrays have a dimension of heads
    layer: bool = False  #: it is a class, and what has heads is inside
    mask: MaskForm = KEEP
    blocking: bool = False  #: True in a mask of the brief means "blocked"
    mask_required: bool = False  #: an all-keep mask is given where the brief gives none
    layout: str = "batch"  #: a key of ``AXIS_ORDERS``
    returns: tuple[int | None, ...] = ()  #: position of each of the brief's outputs
    variant: str = ""  #: which order of columns an output has, "" for the brief's
    identity: bool = False  #: the weights are not returned: they are the output for V = I

    @property
    def heads_alike(self) -> bool:
        """Whether neither masks nor calls can tell heads apart."""
        return self.layer and self.headed and "h" not in (self.mask.axes or "h")

    @property
    def masks(self) -> bool:
        """Whether it takes a mask of the brief's kind."""
        return self.places.mask is None or self.places.mask in self.order

    @property
    def causal_inside(self) -> bool:
        """Whether attention between sources is causal, and leaves no choice."""
        return bool(self.causal) and self.places.key is not None

    @property
    def hands_on_a_cache(self) -> bool:
        """Whether a cache that it returned can be given back to it."""
        names = self.parameters
        return "cache" not in names or names.index("cache") in self.order

    def require_offered(self, values: Sequence[Value]) -> None:
        """Require the submission to have a parameter for everything that it is to be given.

        Raises:
            NotOffered: it has none, so that the check which asks for it does not apply.
        """
        for place, (name, value) in enumerate(zip(self.parameters, values, strict=False)):
            if self.deviates and place == self.places.mask and self._is_added(value):
                raise NotOffered("mask of floats")
            if place in self.order or _is_neutral(name, value) or self._is_inside(place, value):
                continue
            if place in (self.places.key, self.places.value) and self.sources < 3:
                continue
            raise NotOffered(f"parameter for {name}")

    def _is_added(self, value: Value) -> bool:
        """Tell whether a mask is one to add, of a submission that takes others."""
        mask = array_of(value)
        return mask is not None and mask.dtype.kind == "f" and self.mask.meaning != "additive"

    def _is_inside(self, place: int, value: Value) -> bool:
        """Tell whether a value is the causal mask that a submission has inside."""
        return bool(self.causal) and place == self.places.mask and self.is_causal(value)

    def is_causal(self, value: object, *, exactly: bool = True) -> bool:
        """Tell whether a mask of the brief blocks the future, and (exactly) nothing else."""
        mask = array_of(value)
        if mask is None or mask.ndim < 2 or mask.shape[-1] != mask.shape[-2]:
            return False
        allowed = (mask != 0) ^ self.blocking
        past = np.tri(mask.shape[-1], dtype=bool)
        return bool((allowed == past).all() if exactly else (allowed <= past).all())

    def arguments(self, values: Sequence[Value]) -> tuple[tuple[Value, ...], dict[str, Value]]:
        """Put arguments in the brief's order into the submission's, and under its keywords."""
        placed = [
            values[place] if place is not None and place < len(values) else None
            for place in self.order
        ]
        given = [
            n for n, place in enumerate(self.order) if place is not None and place < len(values)
        ]
        by_position = len(self.order) - len(self.keywords)
        # A trailing parameter that the call does not give keeps its default.
        last = max((n for n in given if n < by_position), default=-1)
        named = {
            name: placed[by_position + n]
            for n, name in enumerate(self.keywords)
            if by_position + n in given
        }
        named.update(self.constants)
        return tuple(placed[: last + 1]), named

    def sent_at(self, place: int, given: Sequence[Value], named: Mapping[str, Value]) -> int:
        """Return where an argument of the brief is among those of ``arguments``."""
        if place not in self.order:  # one source serves as several
            key = self.places.key or 0
            place = key if key in self.order else self.places.query or 0
        at = self.order.index(place)
        by_position = len(self.order) - len(self.keywords)
        if at < by_position:
            return at
        return len(given) + list(named).index(self.keywords[at - by_position])

    def made_with(self, made_of: Sequence[Value]) -> tuple[tuple[Value, ...], dict[str, Value]]:
        """Put the constructor's arguments under the submission's names, where these are known."""
        if not self.constructor:
            return tuple(made_of), {}
        return (), {one.name: one.value(made_of) for one in self.constructor}

    def kept(self, keep: Mapping[int, Handle]) -> dict[int, Handle]:
        """Return which outputs of the submission are to be kept."""
        found = {}
        for place, number in keep.items():
            theirs = self.returns[place] if place < len(self.returns) else place
            found[place if theirs is None else theirs] = number
        return found

    def cotangents(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """Put the factors of the brief's outputs where the submission's outputs are."""
        layout = AXIS_ORDERS[self.layout]
        laid = [None if one is None else mapped(one, layout.given) for one in given]
        places = [p for p in self.returns[: len(laid)] if p is not None] or range(len(laid))
        found: list[Any] = [None] * (1 + max(places, default=-1))
        for place, one in zip(places, laid, strict=False):
            found[place] = one
        return tuple(found)

    def outputs(
        self, outs: Sequence[Output], leading: tuple[int, ...],
        variants: Mapping[str, Callable[[Floats], Floats]],
    ) -> tuple[Output, ...]:  # fmt: skip
        """Put a submission's outputs into the brief's order and layout."""
        if self.returns:
            found = [outs[p] if p is not None and p < len(outs) else None for p in self.returns]
            while found and found[-1] is None:
                found.pop()
            outs = found
        layout = AXIS_ORDERS[self.layout]
        if self.is_table:
            outs = [mapped(out, flat) for out in outs]
        outs = tuple(
            mapped(out, lambda array, n=n: layout.returned(array, n, leading))  # type: ignore[misc]
            for n, out in enumerate(outs)
        )
        if self.inverts:
            outs = tuple(
                Tensor(out.values == 0, "b1") if isinstance(out, Tensor) else out for out in outs
            )
        if self.variant:
            outs = tuple(mapped(out, variants[self.variant]) for out in outs)
        return tuple(outs)


@dataclasses.dataclass(frozen=True, slots=True)
class AxisOrder:
    """Where the batch and the positions are: how arrays of the brief go in, and come out."""

    words: str
    given: Callable[[Floats], Floats]
    #: (array, its position among the brief's outputs, the brief's leading lengths)
    returned: Callable[[Floats, int, tuple[int, ...]], Floats]
    masks_too: bool = True  #: masks are laid out in the same way


def mapped(value: _Some, change: Callable[[Floats], Floats]) -> _Some:
    """Change the values of an array; anything else stays as it is."""
    if isinstance(value, Tensor):
        changed = np.ascontiguousarray(change(value.values))
        return Tensor(changed, value.dtype, value.transposed)  # type: ignore[return-value]
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(change(value))  # type: ignore[return-value]
    return value


def flat(table: Floats) -> Floats:
    """Drop an axis of one item from a table of positions."""
    if table.ndim == 3 and 1 in table.shape[:2]:
        return table[0] if table.shape[0] == 1 else table[:, 0]
    return table


def _is_neutral(name: str, value: Value) -> bool:
    """Tell whether a value asks for nothing, so that it may be left out."""
    return value is None or (name in NEUTRAL and value in NEUTRAL[name])


def array_of(value: object) -> Floats | None:
    """Return the values of an array, or None of anything else."""
    values = value.values if isinstance(value, Tensor) else value
    return values if isinstance(values, np.ndarray) else None


def _as_is(array: Floats, position: int = 0, leading: tuple[int, ...] = ()) -> Floats:
    return array


def _with_heads(array: Floats) -> Floats:
    return array[:, None] if array.ndim == 3 else array


def _without_heads(array: Floats, position: int, leading: tuple[int, ...]) -> Floats:
    return array[:, 0] if array.ndim == 4 and array.shape[1] == 1 else array


def _time_first(array: Floats) -> Floats:
    return array.swapaxes(0, 1) if array.ndim == 3 else array


def _batch_first(array: Floats, position: int, leading: tuple[int, ...]) -> Floats:
    """Swap batch and time of the output; the weights, its second, are (B, Tq, Tk) already."""
    return array.swapaxes(0, 1) if array.ndim == 3 and position == 0 else array


def _folded(array: Floats) -> Floats:
    return array.reshape(-1, *array.shape[2:]) if array.ndim == 4 else array


def _unfolded(array: Floats, position: int, leading: tuple[int, ...]) -> Floats:
    count = leading[0] * leading[1] if len(leading) == 2 else -1
    if array.ndim == 3 and len(array) == count:
        return array.reshape(*leading, *array.shape[1:])
    return array


def _one_item(array: Floats) -> Floats:
    return array[0] if array.ndim == 3 else array


def _item_of_batch(array: Floats, position: int, leading: tuple[int, ...]) -> Floats:
    return array[None] if array.ndim == 2 else array


AXIS_ORDERS: Final[Mapping[str, AxisOrder]] = {
    "batch": AxisOrder("(B, T, d)", _as_is, _as_is),
    "heads": AxisOrder("(B, H, T, d)", _with_heads, _without_heads),
    "time-first": AxisOrder("(T, B, d)", _time_first, _batch_first, False),
    "single": AxisOrder("(T, d), one item at a time", _one_item, _item_of_batch),
    "folded": AxisOrder("(B·H, T, d)", _folded, _unfolded),
}

#: Layouts that may stand for the brief's (B, T, d), and for its (B, H, T, d).
PLAIN: Final = ("batch", "heads", "time-first", "single")
HEADED: Final = ("batch", "folded")
