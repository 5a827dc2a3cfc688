"""A roster: the people of a batch, in CSV, and which submission is whose.

The first line names the columns: ``name``, and as needed ``file`` (a submission's id or a pattern
such as ``lovelace*``), ``id``, ``login``, ``section`` and ``handed_in`` (ISO 8601).
"""

from __future__ import annotations

import csv
import datetime
import difflib
import fnmatch
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from harness.errors import UsageError

COLUMNS: Final = ("name", "file", "id", "login", "section", "handed_in")
_SIZE_CAP: Final = 16 << 20


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a roster."""

    name: str
    file: str = ""  #: id of the submission, or a pattern; the name where it is empty
    id: str = ""
    login: str = ""
    section: str = ""
    handed_in: datetime.datetime | None = None

    def is_late(self, deadline: datetime.datetime | None) -> bool:
        """Tell whether it was handed in after the deadline; never where one is not known."""
        if self.handed_in is None or deadline is None:
            return False
        return self.handed_in.astimezone() > deadline.astimezone()


def read_roster(path: Path) -> list[Person]:
    """Read a roster.

    Raises:
        UsageError: it cannot be read; the message says file, line and remedy.
    """
    try:
        if path.stat().st_size > _SIZE_CAP:
            raise UsageError(f"{path} is larger than {_SIZE_CAP >> 20} MiB, expected a roster")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}); save it as CSV in UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [column.strip().casefold() for column in next(reader, [])]
        _expect_columns(path, header)
        return [_person(path, reader.line_num, header, row) for row in reader if any(row)]
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise UsageError(f"{place} is no CSV ({error}); mend that line") from None


def _expect_columns(path: Path, header: list[str]) -> None:
    known = ", ".join(COLUMNS)
    if "name" not in header:
        raise UsageError(f"{path}, line 1 has no column name, expected {known}; add it")
    for column in header:
        if column not in COLUMNS:
            near = difflib.get_close_matches(column, COLUMNS, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{path}, line 1: {column!r} is not one of {known}{meant}")


def _person(path: Path, line: int, header: list[str], row: list[str]) -> Person:
    if len(row) > len(header):
        place = f"{path}, line {line}"
        raise UsageError(f"{place} has {len(row)} fields, expected {len(header)}; quote commas")
    values = {column: value.strip() for column, value in zip(header, row, strict=False)}
    if not values["name"]:
        raise UsageError(f"{path}, line {line} has no name; fill it in")
    handed_in = values.pop("handed_in", "")
    try:
        moment = datetime.datetime.fromisoformat(handed_in) if handed_in else None
    except ValueError:
        raise UsageError(
            f"{path}, line {line}: handed_in is {handed_in!r}, expected e.g. 2026-12-01T18:00+01:00"
        ) from None
    return Person(**values, handed_in=moment)


def people_by_submission(people: Iterable[Person], submissions: Iterable[str]) -> dict[str, Person]:
    """Return whose each submission is; of several that fit, the first row in the roster."""
    ids = list(submissions)
    found: dict[str, Person] = {}
    for person in people:
        pattern = person.file or person.name
        for submission in ids:
            fits = submission == pattern or fnmatch.fnmatchcase(submission, pattern)
            if fits and submission not in found:
                found[submission] = person
    return found
