"""Finds out how a submission spells what the brief asks: by name first, by trial second.

A convention is accepted when it is consistent over every trial. That holds for wrong answers as
well, so that a bug is not taken for a convention; what no trial settles stays as the brief says.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from harness.candidate import Definition, LoadReport, Parameter, Session
from harness.candidate.weights import projections_named_by, words
from harness.conventions.adapting_session import AdaptingSession
from harness.conventions.constructors import (
    CONSTANTS,
    Argument,
    arguments_for_call,
    arguments_of,
    kind_of,
    offered_sizes,
)
from harness.conventions.convention import AXIS_ORDERS, Convention, Places
from harness.conventions.definitions import call_of, candidates
from harness.conventions.mask_forms import MaskForm
from harness.conventions.mask_makers import with_meaning_of_core
from harness.conventions.other_assignments import other_assignment
from harness.conventions.text_trials import causal_inside, masked_inside, padding_form
from harness.conventions.trials import ConventionTrial, ConventionTrials
from harness.errors import NotOffered
from harness.protocol import Call, Tensor
from harness.spec import Draw, EntryPoint, Spec
from harness.text import one_line

Floats = np.ndarray[Any, Any]

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
#: So many definitions are tried for one entry point.
_CANDIDATES: Final = 5
_BY_POSITION: Final = ("positional_only", "positional_or_keyword")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """The conventions of a submission, and what to say about them."""

    conventions: Mapping[str, Convention]
    words: Mapping[str, str]  #: entry point -> what was inferred
    #: class -> sizes that the brief asks for -> those that it can be made of
    offered: Mapping[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]]
    unclear: Mapping[str, str]  #: entry point -> why it cannot be told how it is called


def infer(spec: Spec, session: Session, report: LoadReport) -> Inferred:
    """Return a convention for every entry point that can be found in the submission."""
    found: dict[str, Convention] = {}
    said: dict[str, str] = {}
    unclear: dict[str, str] = {}
    core: Convention | None = None
    for point in spec.entry_points:
        fitting = candidates(point, report.definitions)
        for definition in fitting[:_CANDIDATES]:
            if announced := other_assignment(point, definition):
                unclear.setdefault(point.name, announced)
                continue
            try:
                convention, reason = _understood(point, definition, session, spec)
            except NotOffered as error:
                convention, reason = None, _lacks(definition, error)
            if convention is None:
                if reason and point.is_core:
                    unclear.setdefault(point.name, reason)
                continue
            unclear.pop(point.name, None)
            if core is not None:
                convention = with_meaning_of_core(point, convention, core, session)
            if sentence := _sentence(point, convention, definition):
                said[point.name] = sentence
            found[point.name] = dataclasses.replace(convention, deviates=bool(sentence))
            core = found[point.name] if point.is_core else core
            break
    offered = {
        point.name: partial(_offered, point, found[point.name])
        for point in spec.entry_points
        if point.constructor and point.name in found and found[point.name].constructor
    }
    return Inferred(conventions=found, words=said, unclear=unclear, offered=offered)


def _understood(
    point: EntryPoint, definition: Definition, session: Session, spec: Spec
) -> tuple[Convention | None, str]:
    """Return how a definition is called, or None and why that cannot be told."""
    named = list(by_name(point, definition))
    if not named and definition.kind == "class" and point.variants:
        named = [_table_class(point, definition)]
    if not named:
        return None, _too_few(point, definition)
    convention = named[0]
    if Places.of(point).key is not None:
        tried = _by_trial(point, named, session, spec)
        if tried is None and not _is_briefs(point, definition):
            return None, _unclear(point, definition)
        convention = tried or named[0]
    elif point.variants:
        convention = _variant(point, named[0], session, spec)
        if named[0].is_class and not convention.table:
            return None, _unclear(point, definition)
    if Places.of(point).key is not None and _leaves_no_choice(point, convention):
        convention = causal_inside(point, convention, session, spec)
    elif convention.constructor:
        convention = masked_inside(point, convention, session)
    if point.constructor and Places.of(point).key is None:
        convention = padding_form(point, convention, session)
    everything = set(range(len(point.parameters)))
    if not point.is_core and not convention.table and not everything <= set(convention.order):
        return None, ""  # a helper that takes less than the brief asks for is something else
    return convention, ""


def _leaves_no_choice(point: EntryPoint, convention: Convention) -> bool:
    """Tell whether a causal mask inside would be a convention: beside a brief's mask it is none."""
    takes_mask = convention.places.mask in convention.order
    return convention.sources < _sources_of(Places.of(point)) or not takes_mask


def _sources_of(places: Places) -> int:
    return len({places.query, places.key, places.value} - {None})


def _offered(
    point: EntryPoint, convention: Convention, made_of: tuple[Any, ...]
) -> tuple[Any, ...]:
    return offered_sizes(point, convention.constructor, made_of, convention.causal)


def by_name(point: EntryPoint, definition: Definition) -> Iterator[Convention]:
    """Match the submission's parameters with the brief's by their names.

    Where names do not tell, every order of the arrays is yielded, the brief's first.
    """
    places = Places.of(point)
    takes = _positional_first(call_of(definition))
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


def _table_class(point: EntryPoint, definition: Definition) -> Convention:
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
    takes = _positional_first(definition.takes)
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


def _positional_first(parameters: Sequence[Parameter]) -> list[Parameter]:
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
        if count >= _sources_of(places) or len(takes) < count:
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


def _is_briefs(point: EntryPoint, definition: Definition) -> bool:
    """Tell whether name and parameters are the brief's, so that what is wrong is a bug."""
    given = [one.name.lower() for one in call_of(definition)]
    wanted = [name.lower() for name in point.parameters]
    return definition.name == point.name and given[: len(wanted)] == wanted[: len(given)] != []


def _by_trial(
    point: EntryPoint, named: Sequence[Convention], session: Session, spec: Spec
) -> Convention | None:
    """Decide order, layout, outputs and mask by trial, or None when nothing works.

    First the brief's own call; where that is not answered as the brief says, every order and
    layout without a mask, once more with equal lengths, and then every form of a mask.
    """
    dtype = "f4" if spec.arrays == "torch" else "f8"
    for even in (False, True):
        for sources in sorted({one.sources for one in named}, reverse=True):
            alike = [one for one in named if one.sources == sources]
            sizes = offered_sizes(point, alike[0].constructor, point.sizes, None)
            trials = ConventionTrials(
                point, Draw("", "conventions"), dtype, sizes, sources=sources, even=even
            )
            if (found := _tried_out(trials, alike, session)) is not None:
                return _with_outputs(point, trials, found)
    return None


def _tried_out(
    trials: ConventionTrials, named: Sequence[Convention], session: Session
) -> ConventionTrial | None:
    first = trials.as_asked(named[0], session)
    if trials.works(first) and trials.masks_consistently(first):
        return first
    working = [one for one in trials.by_plain_calls(named, session) if trials.works(one)]
    if not working:
        return None
    # Another layout could hide a bug of the mask: the first one that works is the submission's.
    chosen = working[0]
    if chosen.convention.places.mask not in chosen.convention.order:
        return chosen
    masked = trials.by_masks(chosen.convention, session)
    return next((one for one in masked if trials.masks_consistently(one)), chosen)


def _with_outputs(
    point: EntryPoint, trials: ConventionTrials, chosen: ConventionTrial
) -> Convention:
    """Return a convention with the places of its outputs."""
    out, weights = trials.outputs(chosen.answers[0])
    if point.constructor or len(point.returns) == 1:
        return dataclasses.replace(chosen.convention, returns=(out,))
    arrays = [n for n, one in enumerate(chosen.answers[0].outs) if isinstance(one, Tensor)]
    if (
        weights is None
    ):  # of another shape than the brief's they are a mistake; absent, a convention
        weights = next((n for n in arrays if n != out), None)
    return dataclasses.replace(chosen.convention, returns=(out, weights), identity=weights is None)


def _variant(point: EntryPoint, named: Convention, session: Session, spec: Spec) -> Convention:
    """Find the variant under which the output is what the reference gives."""
    right = spec.expect(spec.reference)[point.name](*point.example)[0].values
    tables = ("batch", "time-first", "single") if named.is_class else ("",)
    changes: dict[str, Callable[[Floats], Floats]] = {"": lambda array: array, **point.variants}
    fitting = None
    for table in tables:
        convention = dataclasses.replace(named, table=table)
        values = _table_of(point, convention, session)
        if values is None or values.shape != right.shape or not np.ptp(values, axis=0).any():
            continue
        fitting = fitting or convention
        for name, change in changes.items():
            if np.allclose(change(values), right, atol=1e-3):
                return dataclasses.replace(convention, variant=name)
    return fitting or named


def _table_of(point: EntryPoint, convention: Convention, session: Session) -> Floats | None:
    """Return the table that a convention gives for the brief's example, or None."""
    adapting = AdaptingSession(session, {point.name: convention}, {point.name: point.variants})
    (answer,) = adapting.exchange([Call(name=point.name, arguments=point.example)])
    if answer.raised is not None or not answer.outs or not isinstance(answer.outs[0], Tensor):
        return None
    return answer.outs[0].values.astype(np.float64)


def _lacks(definition: Definition, error: NotOffered) -> str:
    return f"{one_line(definition.name, 60)} has no {error}, without which it cannot be tried"


def _too_few(point: EntryPoint, definition: Definition) -> str:
    takes = ", ".join(one_line(one.name, 30) for one in call_of(definition))
    return (
        f"{one_line(definition.name, 60)} takes ({takes}), "
        f"expected ({', '.join(point.required)}): the brief gives more than it has parameters for"
    )


def _unclear(point: EntryPoint, definition: Definition) -> str:
    takes = ", ".join(one_line(one.name, 30) for one in call_of(definition))
    return (
        f"{one_line(definition.name, 60)}({takes}) gives no output of {point.name}'s shape in any "
        f"order or layout that was tried, expected {point.name}({', '.join(point.parameters)})"
    )


def _sentence(point: EntryPoint, convention: Convention, definition: Definition) -> str:
    """Say how a convention differs from the brief, or "" when it does not."""
    said = []
    takes = _positional_first(call_of(definition))
    if convention.name != point.name:
        said.append(f"called {one_line(convention.name, 60)}")
    if convention.constructor:
        made = ", ".join(one_line(one.words(), 120) for one in convention.constructor)
        said.append(f"made with ({made})")
    used = [place for place in convention.order if place is not None]
    if list(convention.order[: len(used)]) != list(range(len(used))) or convention.keywords:
        said.append(f"takes ({_listed(takes)})")
    brief = MaskForm(meaning="block" if point.blocking else "keep")
    if form := convention.mask.words(brief):
        said.append(f"mask: {form}")
    if convention.inverts:
        said.append("marks what is blocked, as the mask of the attention beside it does")
    if convention.mask_required:
        said.append("a mask must be given")
    if convention.layout != "batch":
        said.append(f"arrays are {AXIS_ORDERS[convention.layout].words}")
    if convention.returns not in ((), (0,), (0, 1), (0, None)):
        found = zip(convention.returns, point.returns, strict=False)
        names = [name for place, name in sorted((p, n) for p, n in found if p is not None)]
        where = f" at position {convention.returns[0]}" if len(names) == 1 else ""
        said.append(f"returns {', '.join(names)}{where}")
    brief_sources = _sources_of(Places.of(point))
    if convention.sources < brief_sources:
        one = "one source serves" if convention.sources == 1 else "the second source serves"
        what = "queries, keys and values" if convention.sources == 1 else "keys and values"
        said.append(f"{one} as {what}")
    if convention.causal and Places.of(point).key is not None:
        said.append("causal inside")
    sources = {Places.of(point).key, Places.of(point).value} if convention.sources < 3 else set()
    absent = [
        name
        for n, name in enumerate(point.parameters)
        if n not in convention.order and n not in sources
    ]
    if absent:
        said.append(f"has no {', '.join(absent)}")
    if convention.identity:
        said.append("its weights are read as the output for V = I")
    if convention.variant:
        said.append(convention.variant)
    return "; ".join(said)


def _listed(parameters: Sequence[Parameter]) -> str:
    return ", ".join(one_line(one.name, 30) for one in parameters)
