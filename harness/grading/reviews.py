"""What people write about the submissions of a folder, in its ledger."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec

from harness.errors import SandboxBroken
from harness.grading.ledger_file import FILE, open_ledger, transaction
from harness.reviews import Decision, Entry, Mark, Note

_TABLES: Final[dict[type[Entry], str]] = {Decision: "decisions", Note: "notes", Mark: "marks"}
_Kind = TypeVar("_Kind", Decision, Note, Mark)


class Reviews:
    """The decisions, notes and marks of one folder, each list in the order they were written.

    A folder may be open for reviews any number of times, from any threads, also while it is
    graded into: nothing is lost, since entries are only ever added.
    """

    def __init__(self, folder: Path, *, journal: str | None = None) -> None:
        """Open the folder's ledger, and make it when there is none.

        Raises:
            UsageError: the ledger cannot be used.
        """
        self._path = folder / FILE
        self._database = open_ledger(self._path, journal=journal)
        self._one_at_a_time = threading.Lock()  # a connection has one transaction

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries, all or none.

        Raises:
            SandboxBroken: the disk does not take them.
        """
        with self._named_failures(), self._one_at_a_time, transaction(self._database):
            for entry in entries:
                self._database.execute(
                    f"INSERT INTO {_TABLES[type(entry)]} (submission, entry) VALUES (?, ?)",
                    (entry.submission, msgspec.json.encode(entry)),
                )

    def decisions(self, submission: str | None = None) -> list[Decision]:
        """Return the decisions about one submission, or about all."""
        return self._read(Decision, submission)

    def notes(self, submission: str | None = None) -> list[Note]:
        """Return the notes on one submission, or on all."""
        return self._read(Note, submission)

    def marks(self, submission: str | None = None) -> list[Mark]:
        """Return the marks of one submission, or of all."""
        return self._read(Mark, submission)

    def _read(self, kind: type[_Kind], submission: str | None) -> list[_Kind]:
        of_one = "" if submission is None else " WHERE submission = ?"
        given = () if submission is None else (submission,)
        query = f"SELECT entry FROM {_TABLES[kind]}{of_one} ORDER BY number"
        with self._named_failures(), self._one_at_a_time:
            rows = self._database.execute(query, given).fetchall()
        return [msgspec.json.decode(entry, type=kind) for (entry,) in rows]

    @contextlib.contextmanager
    def _named_failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SandboxBroken(
                f"{self._path} cannot be written ({error}); mend that and try again: what was "
                "written before is kept"
            ) from error
