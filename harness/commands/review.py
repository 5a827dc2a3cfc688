"""``review.toml`` beside the results: marks of written answers, as a file to edit by hand.

The file has a table per submission. A point is marked by writing 1 (or true) or 0.5 for false, and
``reviewed = true`` says that the whole form was read, whatever was marked. Blank answers need no
mark and have none. The file is written with everything at false, and never overwritten:
submissions that it lacks are added at its end. What follows from marks: ``harness.marking``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from harness import answer_form
from harness.errors import UsageError
from harness.grading import LEDGER, Reviews
from harness.marking import Marking, markings
from harness.results import Card, Points

FILE: Final = "review.toml"
_SIZE_CAP: Final = 64 << 20

#: Keys of a table that are no points: that a person has read the form, and who.
READ: Final = "reviewed"
REVIEWER: Final = "reviewer"
#: What follows the number of a question in the key of its note.
NOTE: Final = " note"

_HEAD: Final = """\
# Write 1 or 0.5 for false where an answer says it, wholly or in part; a line such as
# "8 note" = "…" remarks on question 8. Write `reviewed = true` when you have read a form to its
# end; then run `takehome report` on this folder.
"""


def prepare(cards: Iterable[Card], folder: Path) -> Path | None:
    """Add the submissions of the cards to the folder's ``review.toml``; return its path.

    Cards without key points are passed over; None when there is nothing to mark.

    Raises:
        UsageError: the file is there and cannot be read.
    """
    path = folder / FILE
    known = set(read(folder))
    tables = [
        _table(card)
        for card in cards
        if any(question.points for question in card.questions) and card.result.id not in known
    ]
    if tables:
        text = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        path.write_text("\n".join([text.rstrip("\n") + "\n", *tables]), encoding="utf-8")
    return path if path.exists() else None


def _table(card: Card) -> str:
    lines = [f"[{_quoted(card.result.id)}]", f"{READ} = false", f'{REVIEWER} = ""']
    for question in card.questions:
        if not question.points:
            continue
        lines.append(f"# {question.id}. {' '.join(question.text.split())}")
        if not answer_form.is_answered(question):
            lines.append("# not answered")
            continue
        for point in question.points:
            text = " ".join(point.text.split())
            lines.append(f"{_quoted(point.id)} = false  # {point.level}: {text}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Spell text as a TOML key; ids hold printable characters only."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read(folder: Path) -> dict[str, Marking]:
    """Read what is marked in a folder's ``review.toml``; nothing when there is no such file.

    Raises:
        UsageError: it is no TOML, or something else than a mark stands in it.
    """
    path = folder / FILE
    try:
        if not path.exists():
            return {}
        if path.stat().st_size > _SIZE_CAP:
            raise UsageError(f"{path} is larger than {_SIZE_CAP >> 20} MiB; write it again")
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read ({error}); repair that line") from None
    return {submission: _marking(path, submission, table) for submission, table in tables.items()}


def standing(folder: Path) -> dict[str, Marking]:
    """Return what stands about each form: what the ledger has, over what the file has.

    Raises:
        UsageError: the file or the ledger cannot be read.
    """
    if not (folder / LEDGER).exists():
        return read(folder)
    with Reviews(folder) as reviews:
        return standing_in(folder, reviews)


def standing_in(folder: Path, reviews: Reviews) -> dict[str, Marking]:
    """Return the same with a ledger that is open.

    Raises:
        UsageError: the file cannot be read.
    """
    made = read(folder)
    for submission, newer in markings([*reviews.marks(), *reviews.notes()]).items():
        older = made.get(submission, Marking())
        made[submission] = Marking(
            values={**older.values, **newer.values},
            notes={**older.notes, **newer.notes},
            reviewed=older.reviewed or newer.reviewed,
            reviewers=tuple(dict.fromkeys((*older.reviewers, *newer.reviewers))),
        )
    return made


def _marking(path: Path, submission: str, table: object) -> Marking:
    if not isinstance(table, Mapping):
        kind = type(table).__name__
        raise UsageError(f"{path}: {submission} is {kind}, expected a table of key points")
    values: dict[str, Points] = {}
    notes: dict[str, str] = {}
    reviewed = table.get(READ, False)
    if not isinstance(reviewed, bool):
        raise UsageError(f"{path}: {READ} of {submission} is {_short(reviewed)}, expected true")
    for key, value in table.items():
        if key in (READ, REVIEWER):
            continue
        if key.endswith(NOTE) and isinstance(value, str):
            notes[key.removesuffix(NOTE)] = value
        elif value is not False or reviewed:
            values[key] = _mark(path, f"{key} of {submission}", value)
    reviewer = table.get(REVIEWER)
    reviewers = (str(reviewer),) if reviewer else ()
    return Marking(values=values, notes=notes, reviewed=reviewed, reviewers=reviewers)


def _mark(path: Path, what: str, value: object) -> Points:
    """Return a mark as a number; true is 1.

    Raises:
        UsageError: it is none.
    """
    if isinstance(value, bool | int | float) and value in (0, 0.5, 1):
        return 0.5 if value == 0.5 else int(value)
    raise UsageError(f"{path}: {what} is {_short(value)}, expected true, false or 0.5")


def _short(value: object) -> str:
    return repr(str(value)[:40])
