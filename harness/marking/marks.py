"""What stands about a form, made of all that reviewers have entered about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TypeVar

from harness.results import Points
from harness.reviews import WHOLE_FORM, Mark, Note

Value = TypeVar("Value")


@dataclasses.dataclass(frozen=True, slots=True)
class Marking:
    """What stands about one form."""

    values: Mapping[str, Points] = dataclasses.field(default_factory=dict)  #: key point -> mark
    notes: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: question -> note
    reviewed: bool = False  #: it was read to its end
    reviewers: tuple[str, ...] = ()  #: who has entered anything, in the order of their first entry


def markings(entries: Iterable[Mark | Note]) -> dict[str, Marking]:
    """Return what the entries come to, by submission; of several on one thing the last counts.

    Notes on a submission as a whole, or on a check, are no part of a marking.
    """
    made: dict[str, Marking] = {}
    for entry in entries:
        made[entry.submission] = _with(made.get(entry.submission, Marking()), entry)
    return made


def _with(marking: Marking, entry: Mark | Note) -> Marking:
    if isinstance(entry, Note):
        if not entry.about.isdecimal():
            return marking
        notes = _changed(marking.notes, entry.about, entry.text or None)
        marking = dataclasses.replace(marking, notes=notes)
    elif entry.point == WHOLE_FORM:
        marking = dataclasses.replace(marking, reviewed=bool(entry.share))
    else:
        values = _changed(marking.values, entry.point, _points(entry.share))
        marking = dataclasses.replace(marking, values=values)
    reviewers = tuple(dict.fromkeys((*marking.reviewers, entry.reviewer)))
    return dataclasses.replace(marking, reviewers=reviewers)


def _changed(entries: Mapping[str, Value], key: str, value: Value | None) -> dict[str, Value]:
    """Return the mapping with one entry changed, or without it for None."""
    kept = {name: entry for name, entry in entries.items() if name != key}
    return kept if value is None else {**kept, key: value}


def _points(share: float | None) -> Points | None:
    return share if share is None or share == 0.5 else int(share)
