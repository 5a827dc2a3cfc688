"""Reads a folder's ledger beside whoever writes it."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec

from harness.errors import UsageError
from harness.grading.ledger_file import FILE, open_ledger
from harness.grading.record import BatchRecord
from harness.results import Card, SubmissionResult


class PastResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a submission came to at some time."""

    time: str  #: ISO 8601; "" where an older ledger did not keep it
    result: SubmissionResult


class LedgerReader:
    """What is kept of the submissions of a folder."""

    def __init__(self, folder: Path) -> None:
        """Open the folder's ledger.

        Raises:
            UsageError: there is none, or it cannot be used.
        """
        self._path = folder / FILE
        if not self._path.exists():
            raise UsageError(f"{self._path} is missing, expected a folder that was graded into")
        self._database = open_ledger(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._database.close()

    def history(self, submission: str | None = None) -> Iterator[PastResult]:
        """Yield the results of one submission, or of all by name, the oldest first."""
        of_one = "" if submission is None else " WHERE submission = ?"
        given = () if submission is None else (submission,)
        query = f"SELECT time, result FROM history{of_one} ORDER BY submission, number"
        for time, result in self._rows(query, *given):
            yield PastResult(time=time, result=msgspec.json.decode(result, type=SubmissionResult))

    def graded_before(self, time: str) -> list[tuple[str, str]]:
        """Return the submissions whose card is older than an ISO 8601 time, and when it was made.

        Those of an older ledger, which kept no time, come first.
        """
        query = "SELECT submission, time FROM cards WHERE time < ? ORDER BY time, submission"
        return [(str(name), str(made)) for name, made in self._rows(query, time)]

    def submission(self, identifier: str) -> tuple[Card, bytes] | None:
        """Return a submission's last card, and the task it was made from, or None.

        The task is empty where an older ledger did not keep it.
        """
        query = "SELECT card, task FROM cards WHERE submission = ? ORDER BY rowid DESC LIMIT 1"
        for card, task in self._rows(query, identifier):
            content = zlib.decompress(task) if task else b""
            return msgspec.json.decode(card, type=Card), content
        return None

    def record(self) -> BatchRecord | None:
        """Return what the folder was graded by, or None where an older ledger did not keep it."""
        for (value,) in self._rows("SELECT value FROM batch WHERE name = 'record'"):
            return msgspec.json.decode(value, type=BatchRecord)
        return None

    def _rows(self, query: str, *given: str) -> Iterator[Any]:
        try:
            yield from self._database.execute(query, given)
        except (sqlite3.Error, msgspec.DecodeError, zlib.error) as error:
            raise UsageError(f"{self._path} cannot be read ({error}); grade again") from error
