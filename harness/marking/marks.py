"""What reviewers enter about written answers: marks, notes, and that a form was read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec

from harness.errors import UsageError
from harness.results import Points

#: Characters of a note, and of a reviewer's name.
NOTE_CAP: Final = 4_000
NAME_CAP: Final = 200

Identifier = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Reviewer = Annotated[str, msgspec.Meta(max_length=NAME_CAP)]


class Mark(msgspec.Struct, frozen=True, kw_only=True, tag="mark", tag_field="kind"):
    """How far one answer has one key point."""

    submission: Identifier
    point: Identifier  #: id of the key point, e.g. "8.1"
    value: Points  #: 0, 0.5 or 1: the share of the point's points
    reviewer: Reviewer
    at: str  #: ISO 8601, in UTC

    def __post_init__(self) -> None:
        """Refuse every other value.

        Raises:
            ValueError: it is neither 0 nor 0.5 nor 1.
        """
        if self.value not in (0, 0.5, 1):
            raise ValueError(f"the mark of {self.point} is {self.value}, expected 0, 0.5 or 1")


class Note(msgspec.Struct, frozen=True, kw_only=True, tag="note", tag_field="kind"):
    """What a reviewer remarks on one submission's answer to a question; "" takes it back."""

    submission: Identifier
    question: Identifier
    text: Annotated[str, msgspec.Meta(max_length=NOTE_CAP)]
    reviewer: Reviewer
    at: str


class Reading(msgspec.Struct, frozen=True, kw_only=True, tag="reading", tag_field="kind"):
    """That a reviewer has read a whole form, or takes that back."""

    submission: Identifier
    reviewed: bool
    reviewer: Reviewer
    at: str


Entry = Mark | Note | Reading


def encode(entry: Entry) -> bytes:
    """Return an entry as JSON."""
    return msgspec.json.encode(entry)


def decode(row: bytes | str) -> Entry:
    """Return the entry that is written in JSON.

    Raises:
        UsageError: it is none.
    """
    try:
        return msgspec.json.decode(row, type=Entry)
    except msgspec.DecodeError as error:
        raise UsageError(f"an entry of a review cannot be read ({error}); send it again") from None


@dataclasses.dataclass(frozen=True, slots=True)
class Marking:
    """What stands about one form."""

    values: Mapping[str, Points] = dataclasses.field(default_factory=dict)  #: key point -> mark
    notes: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: question -> note
    reviewed: bool = False  #: it was read to its end
    reviewers: tuple[str, ...] = ()  #: who has entered anything, in the order of their first entry


def markings(entries: Iterable[Entry]) -> dict[str, Marking]:
    """Return what the entries come to, by submission; of several on one thing the latest counts."""
    made: dict[str, Marking] = {}
    for entry in sorted(entries, key=lambda entry: entry.at):
        made[entry.submission] = _with(made.get(entry.submission, Marking()), entry)
    return made


def _with(marking: Marking, entry: Entry) -> Marking:
    reviewers = tuple(dict.fromkeys((*marking.reviewers, entry.reviewer)))
    marking = dataclasses.replace(marking, reviewers=reviewers)
    match entry:
        case Mark(point=point, value=value):
            return dataclasses.replace(marking, values={**marking.values, point: value})
        case Note(question=question, text=""):
            kept = {number: text for number, text in marking.notes.items() if number != question}
            return dataclasses.replace(marking, notes=kept)
        case Note(question=question, text=text):
            return dataclasses.replace(marking, notes={**marking.notes, question: text})
        case Reading(reviewed=reviewed):
            return dataclasses.replace(marking, reviewed=reviewed)
