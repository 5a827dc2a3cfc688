"""Finds out how a submission spells what the brief asks: by name first, by trial second.

A convention is accepted when it is consistent over every trial. That holds for wrong answers as
well, so that a bug is not taken for a convention; what no trial settles stays as the brief says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from harness.candidate import Definition, LoadReport, Session
from harness.conventions.adapting_session import AdaptingSession
from harness.conventions.constructors import (
    offered_sizes,
)
from harness.conventions.convention import Convention, Places
from harness.conventions.definitions import call_of, candidates
from harness.conventions.mask_makers import with_meaning_of_core
from harness.conventions.named_orders import by_name, table_class
from harness.conventions.other_assignments import other_assignment
from harness.conventions.sentences import absence, deviation, no_output, too_few_parameters
from harness.conventions.text_trials import causal_inside, masked_inside, padding_form
from harness.conventions.trials import ConventionTrial, ConventionTrials
from harness.errors import CandidateRaised, NotOffered
from harness.protocol import Call, Tensor
from harness.spec import Draw, EntryPoint, Spec

Floats = np.ndarray[Any, Any]

#: So many definitions are tried for one entry point.
_CANDIDATES: Final = 5


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
                convention, reason = None, absence(definition, error)
            if convention is None:
                if reason and point.is_core:
                    unclear.setdefault(point.name, reason)
                continue
            unclear.pop(point.name, None)
            if core is not None:
                convention = with_meaning_of_core(point, convention, core, session)
            if sentence := deviation(point, convention, definition):
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
        named = [table_class(point, definition)]
    if not named:
        return None, too_few_parameters(point, definition)
    convention = named[0]
    if Places.of(point).key is not None:
        tried, raised = _by_trial(point, named, session, spec)
        if tried is None and not _is_briefs(point, definition):
            return None, no_output(point, definition, raised)
        convention = tried or named[0]
    elif point.variants:
        convention = _variant(point, named[0], session, spec)
        if named[0].is_class and not convention.table:
            return None, no_output(point, definition)
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
    return convention.sources < Places.of(point).source_count or not takes_mask


def _offered(
    point: EntryPoint, convention: Convention, made_of: tuple[Any, ...]
) -> tuple[Any, ...]:
    return offered_sizes(point, convention.constructor, made_of, convention.causal)


def _is_briefs(point: EntryPoint, definition: Definition) -> bool:
    """Tell whether name and parameters are the brief's, so that what is wrong is a bug."""
    given = [one.name.lower() for one in call_of(definition)]
    wanted = [name.lower() for name in point.parameters]
    return definition.name == point.name and given[: len(wanted)] == wanted[: len(given)] != []


def _by_trial(
    point: EntryPoint, named: Sequence[Convention], session: Session, spec: Spec
) -> tuple[Convention | None, CandidateRaised | None]:
    """Decide order, layout, outputs and mask by trial; None and what it raised if nothing works.

    First the brief's own call; where that is not answered as the brief says, every order and
    layout without a mask, once more with equal lengths, and then every form of a mask.
    """
    dtype = "f4" if spec.arrays == "torch" else "f8"
    raised: CandidateRaised | None = None
    for even in (False, True):
        for sources in sorted({one.sources for one in named}, reverse=True):
            alike = [one for one in named if one.sources == sources]
            sizes = offered_sizes(point, alike[0].constructor, point.sizes, None)
            trials = ConventionTrials(
                point, Draw("", "conventions"), dtype, sizes, sources=sources, even=even
            )
            first = trials.as_asked(alike[0], session)
            raised = raised or trials.raised
            if (found := _tried_out(trials, first, alike, session)) is not None:
                return _with_outputs(point, trials, found), None
    return None, raised


def _tried_out(
    trials: ConventionTrials,
    first: ConventionTrial,
    named: Sequence[Convention],
    session: Session,
) -> ConventionTrial | None:
    if trials.works(first) and trials.masks_consistently(first):
        return first
    working = [one for one in trials.by_plain_calls(named, session) if trials.works(one)]
    if not working:
        return None
    # Another layout could hide a bug of the mask: the first one that works is the submission's.
    chosen = working[0]
    if chosen.convention.places.mask not in chosen.convention.order:
        return chosen
    masked = list(trials.by_masks(chosen.convention, session))
    consistent = next((one for one in masked if trials.masks_consistently(one)), None)
    # Where a bug lets blocked keys through in every form, one that is at least taken, and that
    # leaves the output as it was where it keeps all, is how masks are read.
    return consistent or next((one for one in masked if trials.takes_masks(one)), chosen)


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
