"""The ledger of an output folder: its seed, and every card from the moment that it exists.

A run that was interrupted, however it was, goes on from here: only what has no card is graded.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import secrets
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, Self

import filelock
import msgspec

from harness.errors import SandboxBroken, UsageError
from harness.grading.ledger_file import FILE, PERSONAL, open_ledger, transaction
from harness.grading.record import BatchRecord
from harness.results import Card

_LOCK: Final = ".lock"


class Ledger:
    """The ledger of one folder, held by one run at a time."""

    def __init__(self, folder: Path, *, journal: str | None = None) -> None:
        """Open the ledger, and make it when there is none.

        Raises:
            UsageError: another run holds the folder, or the ledger cannot be used.
        """
        self._path = folder / FILE
        self._lock = filelock.FileLock(folder / _LOCK, timeout=0, mode=0o600)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise UsageError(
                f"{folder} is held by {_holder(folder / _LOCK)}, expected a folder that no run "
                "writes to; wait for it, or choose another --out"
            ) from None
        except OSError as error:
            raise UsageError(f"{folder / _LOCK} cannot be written ({error.strerror})") from None
        try:
            _write_holder(folder / _LOCK)
            self._database = open_ledger(self._path, journal=journal)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        self._database.close()
        self._lock.release()

    def forget(self) -> None:
        """Drop the seed and make every submission one that is to be graded."""
        with self._named_failures(), transaction(self._database):
            self._database.execute("DELETE FROM batch")
            self._database.execute("UPDATE cards SET key = 'forgotten ' || rowid")

    def seed(self, wanted: str | None) -> str:
        """Return the seed of the folder: ``wanted``, or what it has, or a fresh one."""
        return self._value("seed", wanted, secrets.token_hex(8))

    def started(self, now: str) -> str:
        """Return when the folder's first run began: ``now`` if this is the first."""
        return self._value("started", None, now)

    def note_record(self, record: BatchRecord) -> None:
        """Keep what the folder is graded by."""
        self._value("record", msgspec.json.encode(record).decode(), "")

    def _value(self, name: str, wanted: str | None, first: str) -> str:
        """Return a value of the batch: ``wanted``, or what is kept, or ``first``; keep it."""
        query = "SELECT value FROM batch WHERE name = ?"
        with self._named_failures():
            kept = self._database.execute(query, (name,)).fetchone()
            value = wanted or (str(kept[0]) if kept else first)
            if not kept or kept[0] != value:
                self._database.execute("REPLACE INTO batch VALUES (?, ?)", (name, value))
        return value

    def has(self, key: str) -> bool:
        """Tell whether a card is kept under a key."""
        with self._named_failures():
            found = self._database.execute("SELECT 1 FROM cards WHERE key = ?", (key,)).fetchone()
        return found is not None

    def card(self, key: str) -> Card | None:
        """Return the card that is kept under a key."""
        with self._named_failures():
            row = self._database.execute("SELECT card FROM cards WHERE key = ?", (key,)).fetchone()
        try:
            return msgspec.json.decode(row[0], type=Card) if row else None
        except msgspec.DecodeError:
            return None  # written by a version of ours that shared the key; it is graded again

    def task(self, key: str) -> bytes:
        """Return what the card under a key was made from; nothing where that was not kept."""
        with self._named_failures():
            row = self._database.execute("SELECT task FROM cards WHERE key = ?", (key,)).fetchone()
        return zlib.decompress(row[0]) if row and row[0] else b""

    def amend(self, key: str, card: Card) -> None:
        """Replace a card by one of the same result; its history stays as it is.

        Raises:
            SandboxBroken: the disk does not take it.
        """
        change = (msgspec.json.encode(card), key)
        with self._named_failures(), transaction(self._database):
            self._database.execute("UPDATE cards SET card = ? WHERE key = ?", change)

    def keep(self, key: str, card: Card, *, time: str = "", task: bytes = b"") -> None:
        """Write a card, when it was made and from what, and a line of its submission's history.

        Raises:
            SandboxBroken: the disk does not take it.
        """
        result, whole = card.result, msgspec.json.encode(card)
        row = (key, result.card, whole, result.id, time, zlib.compress(task))
        line = (result.id, time, msgspec.json.encode(result))
        with self._named_failures(), transaction(self._database):
            self._database.execute("REPLACE INTO cards VALUES (?, ?, ?, ?, ?, ?)", row)
            self._database.execute(
                "INSERT INTO history (submission, time, result) VALUES (?, ?, ?)", line
            )

    def erase(self, submission: str) -> list[str]:
        """Erase all that is kept of a submission, from the disk as well; return its pages.

        Raises:
            SandboxBroken: the disk does not take it, or somebody has the ledger open meanwhile.
        """
        query = "SELECT page FROM cards WHERE submission = ?"
        with self._named_failures():
            pages = self._database.execute(query, (submission,)).fetchall()
            self._database.execute("PRAGMA secure_delete = ON")
            with transaction(self._database):
                for table in PERSONAL:
                    self._database.execute(
                        f"DELETE FROM {table} WHERE submission = ?", (submission,)
                    )
            self._database.execute("VACUUM")
            busy, *_ = self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise SandboxBroken(
                f"{self._path} is open elsewhere, expected to be free; close the review or report "
                "that reads it and run the same command again"
            )
        return sorted({page for (page,) in pages})

    def drop_others(self, keys: Collection[str]) -> list[str]:
        """Drop every card that is not under one of ``keys``; return the pages that were theirs."""
        wanted = set(keys)
        with self._named_failures(), transaction(self._database):
            rows = self._database.execute("SELECT key, page FROM cards").fetchall()
            dropped = [(key,) for key, _ in rows if key not in wanted]
            self._database.executemany("DELETE FROM cards WHERE key = ?", dropped)
        pages = {page for key, page in rows if key in wanted}
        return sorted({page for key, page in rows if key not in wanted} - pages)

    @contextlib.contextmanager
    def _named_failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SandboxBroken(
                f"{self._path} cannot be written ({error}); mend that and run the same command "
                "again: what was graded is kept"
            ) from error


def _write_holder(lock: Path) -> None:
    started = datetime.datetime.now().astimezone().isoformat(" ", "seconds")
    with contextlib.suppress(OSError):  # Windows does not let the holder's file be written
        lock.write_text(f"process {os.getpid()}, which began at {started}", encoding="utf-8")


def _holder(lock: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return lock.read_text(encoding="utf-8")[:200] or "another run"
    return "another run"
