"""Orders in which a submission may take what the brief gives, by the names of its parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.candidate import Definition, Parameter
from harness.candidate.weights import projections_named_by, words
from harness.conventions.constructors import (
    CONSTANTS,
    Argument,
    arguments_for_call,
    arguments_of,
    kind_of,
)
from harness.conventions.convention import Convention, Places
from harness.conventions.definitions import call_of
from harness.conventions.mask_forms import MaskForm
from harness.spec import EntryPoint

#: Words in the name of a parameter -> the brief's parameter.
SYNONYMS: Final[Mapping[str, frozenset[str]]] = {
    "mask": frozenset(
        {"mask", "masks", "allowed", "padding", "pad", "valid", "lens", "m", "keep", "allow"}
        | {"visible", "blocked", "attend"}
    ),
    "dropout": frozenset({"dropout", "p", "rate", "drop", "pdrop"}),
    "cache": frozenset({"cache", "past", "state", "memory", "kv", "kvs", "history"}),
    "block": frozenset({"block", "chunk", "tile", "bs", "blk", "blocksize"}),
    "training": frozenset({"training", "train", "mode"}),
    "heads": frozenset({"h", "heads", "head", "n", "num", "nhead"}),
    "length": frozenset({"length", "len", "size", "t", "n", "seq", "max", "l", "maxlen"}),
    "lengths": frozenset({"lengths", "lens", "valid"}),
    "model": frozenset({"d", "dim", "model", "emb", "embed", "width", "hidden", "size"}),
    "x": frozenset({"x", "input", "inputs", "tensor", "arr", "a", "scores", "logits", "z"}),
    "axis": frozenset({"axis", "dim"}),
}
#: Words of parameters that are the submission's own: none of them is a mask or a cache.
OWN: Final = frozenset(
    {"return", "need", "weights", "verbose", "causal", "is", "use", "eps", "scale", "temperature"}
    | {"decoder", "masked", "autoregressive", "head", "training", "train", "dropout", "debug"}
    | {"name", "device", "dtype", "axis", "dim", "inplace", "bias", "drop", "pdrop"}
)
_BY_POSITION: Final = ("positional_only", "positional_or_keyword")


def by_name(point: EntryPoint, definition: Definition) -> Iterator[Convention]:
    """Match the submission's parameters with the brief's by their names.

    Where names do not tell, every order of the arrays is yielded, the brief's first.
    """
    places = Places.of(point)
    takes = positional_first(call_of(definition))
    made = _constructor(point, definition)
    orders = [(3, order) for order in _orders(point.parameters, len(point.required), takes, places)]
    if places.key is not None and places.key == places.value:
        orders = [*_orders_of_three(point, takes, places), *orders]
    orders += _orders_of_fewer(point, takes, places)
    for sources, order in orders:
        kept, keywords, constants = _placed(takes, order)
        at = next((one for one, place in kept if place is not None and place == places.mask), None)
        yield Convention(
            name=definition.name,
            parameters=point.parameters,
            order=tuple(place for _, place in kept),
            sources=sources,
            keywords=keywords,
            constants=constants,
            constructor=made,
            places=places,
            is_class=definition.kind == "class" and not point.constructor,
            is_table=bool(point.variants),
            headed=point.headed,
            layer=bool(point.constructor),
            mask=MaskForm(meaning="block" if point.blocking else "keep"),
            blocking=point.blocking,
            mask_required=at is not None and not at.default,
        )


def table_class(point: EntryPoint, definition: Definition) -> Convention:
    """Return how a class is asked for its table, which it adds to what it is called with."""
    return Convention(
        name=definition.name,
        parameters=point.parameters,
        order=(0,),
        constructor=_constructor(point, definition),
        is_class=True,
        is_table=True,
    )


def _constructor(point: EntryPoint, definition: Definition) -> tuple[Argument, ...]:
    takes = positional_first(definition.takes)
    if point.constructor:
        return arguments_of(point, takes)
    if definition.kind == "function":
        return ()
    if point.variants:
        return arguments_for_call(point, takes, {"max_len": 7, "d_model": 6})
    return arguments_for_call(point, takes, {"d_k": 6})


def _placed(
    takes: Sequence[Parameter], order: Sequence[int | None]
) -> tuple[list[tuple[Parameter, int | None]], tuple[str, ...], tuple[tuple[str, Any], ...]]:
    """Return what is given and where; what follows a parameter that is left out is named."""
    kept: list[tuple[Parameter, int | None]] = []
    constants: list[tuple[str, Any]] = []
    keywords: list[str] = []
    left_out = False
    for one, place in itertools.zip_longest(takes, order[: len(takes) or None]):
        if one is None or (place is not None and one.kind != "keyword_only" and not left_out):
            kept.append((one or Parameter(""), place))
        elif place is not None:
            kept.append((one, place))
            keywords.append(one.name)
        if one is not None and place is None:
            left_out = True
            if not one.default:
                constants.append((one.name, CONSTANTS.get(kind_of(one.name))))
    return kept, tuple(keywords), tuple(constants)


def positional_first(parameters: Sequence[Parameter]) -> list[Parameter]:
    by_position = [one for one in parameters if one.kind in _BY_POSITION]
    return by_position + [one for one in parameters if one.kind == "keyword_only"]


def _orders(
    wanted: Sequence[str], required: int, takes: Sequence[Parameter], places: Places
) -> Iterator[tuple[int | None, ...]]:
    """Yield the brief positions of a submission's parameters."""
    order: list[int | None] = []
    for one in takes:
        fitting = (n for n, name in enumerate(wanted) if n not in order and _means(one.name, name))
        order.append(next(fitting, None))
    if places.mask is not None and places.mask not in order:
        named = (n for n, one in enumerate(takes) if order[n] is None and "bias" in words(one.name))
        if (at := next(named, None)) is not None:
            order[at] = places.mask
    if takes and set(range(required)) <= set(order):
        yield tuple(_filled(wanted, takes, order))
        return
    if places.mask is not None and places.mask in order[:required]:
        return  # fewer sources than the brief's come before the mask
    usual = tuple(range(min(len(wanted), len(takes)) if takes else len(wanted)))
    if takes and len(usual) < required:
        return  # what takes fewer arrays than the brief gives cannot be called in its order
    yield usual
    arrays = sorted({p for p in (places.query, places.key, places.value) if p is not None})
    telling = any(projections_named_by(one.name) for one in takes)
    if telling or len(arrays) < 2 or arrays != list(range(len(arrays))):
        return
    for first in itertools.permutations(arrays):
        if first != tuple(arrays):
            yield (*first, *usual[len(arrays) :])


def _orders_of_three(
    point: EntryPoint, takes: Sequence[Parameter], places: Places
) -> Iterator[tuple[int, tuple[int | None, ...]]]:
    """Yield the order of query, key and value, where the brief has one source for the last two."""
    roles = {"Q": places.query, "K": places.key, "V": places.value}
    order: list[int | None] = []
    for one in takes:
        said = projections_named_by(one.name)
        order.append(roles.get(said[0]) if len(said) == 1 else None)
    if sum(place is not None for place in order) != 3:
        return
    for n, one in enumerate(takes):
        if order[n] is None and places.mask not in order and _means(one.name, "mask"):
            order[n] = places.mask
    yield 3, tuple(order)


def _orders_of_fewer(
    point: EntryPoint, takes: Sequence[Parameter], places: Places
) -> Iterator[tuple[int, tuple[int | None, ...]]]:
    """Yield orders of two sources, and of one, where that is what a submission takes."""
    announced = {role for one in takes for role in projections_named_by(one.name)}
    if places.key is None or not point.constructor or set("QKV") <= announced:
        return
    for count in (2, 1):
        wanted = (places.query, places.key)[:count]
        if count >= places.source_count or len(takes) < count:
            continue
        order: list[int | None] = [*wanted, *[None] * (len(takes) - count)]
        for n, one in enumerate(takes[count:], count):
            if places.mask is not None and _means(one.name, "mask") and places.mask not in order:
                order[n] = places.mask
        if any(_means(one.name, "mask") for one in takes[:count]):
            continue
        if places.mask is not None and places.mask not in order:
            free = (
                n
                for n, one in enumerate(takes)
                if order[n] is None and one.value is None and not set(words(one.name)) & OWN
            )
            if (at := next(free, None)) is not None:
                order[at] = places.mask
        yield count, tuple(order)


def _filled(
    wanted: Sequence[str], takes: Sequence[Parameter], order: list[int | None]
) -> list[int | None]:
    """Give the first parameter without a meaning the first of the brief's that has no place.

    Only where that is an array or a cache: a flag that is taken for one would change its meaning.
    """
    free = [n for n, name in enumerate(wanted) if n not in order]
    for n, one in enumerate(takes):
        if order[n] is not None or not free or one.value is not None:
            continue
        if set(words(wanted[free[0]])) & {"mask", "cache"} and not set(words(one.name)) & OWN:
            order[n] = free.pop(0)
    return order


def _means(name: str, wanted: str) -> bool:
    if name.lower() == wanted.lower():
        return True
    if projections_named_by(wanted) and projections_named_by(wanted)[0] in ("Q", "K", "V"):
        return projections_named_by(name) == projections_named_by(wanted)
    parts, others = set(words(name)), set(words(wanted))
    if "use" in parts or "return" in parts:  # a flag about a thing is not the thing
        return False
    return any(parts & synonyms and others & {*synonyms, key} for key, synonyms in SYNONYMS.items())
