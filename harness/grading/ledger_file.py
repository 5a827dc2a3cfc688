"""The file of a ledger: its tables, its version, and how it is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.errors import UsageError

FILE: Final = "ledger.sqlite"
#: ``PRAGMA user_version`` of the tables below.
VERSION: Final = 2
#: How long a writer of the same file may keep another waiting.
_BUSY_SECONDS: Final = 10.0
#: File systems of other machines, whose processes share no memory, which a WAL needs
#: (https://www.sqlite.org/wal.html, section 1).
_REMOTE: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph"})
_CARDS: Final = """
CREATE TABLE batch (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE cards (key TEXT PRIMARY KEY, page TEXT NOT NULL, card BLOB NOT NULL) STRICT;
"""
#: Tables that hold something of a person, under the name of a submission.
PERSONAL: Final = ("cards", "history", "decisions", "notes", "marks")
_HISTORY: Final = """
ALTER TABLE cards ADD COLUMN submission TEXT NOT NULL DEFAULT '';
ALTER TABLE cards ADD COLUMN time TEXT NOT NULL DEFAULT '';
ALTER TABLE cards ADD COLUMN task BLOB NOT NULL DEFAULT x'';
UPDATE cards SET submission = json_extract(CAST(card AS TEXT), '$.result.id');
CREATE INDEX cards_of ON cards (submission);
CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    submission TEXT NOT NULL,
    time TEXT NOT NULL,
    result BLOB NOT NULL
) STRICT;
CREATE INDEX history_of ON history (submission);
"""
_REVIEWS: Final = "".join(
    f"""
CREATE TABLE {table} (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    submission TEXT NOT NULL,
    entry BLOB NOT NULL
) STRICT;
CREATE INDEX {table}_of ON {table} (submission);
CREATE TRIGGER {table}_stay BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'what people write is appended, never replaced'); END;
"""
    for table in ("decisions", "notes", "marks")
)
#: What makes each version out of the one before.
_STEPS: Final = (_CARDS, _REVIEWS + _HISTORY)


def open_ledger(path: Path, *, journal: str | None = None) -> sqlite3.Connection:
    """Open the ledger, and make it when there is none; any number of processes may.

    ``journal`` is SQLite's mode, ``wal`` or ``delete``; None finds out which the file system bears.
    An older ledger is brought to this version in a copy, which then takes its place.

    Raises:
        UsageError: it is newer, or no ledger, or cannot be written, or has to be brought to this
            version while another process has it open.
    """
    try:
        # SQLite gives its other files the mode of this one.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        database = _connect(path)
        version = _version(database)
        if version > VERSION:
            database.close()
            raise _newer(path, version)
        if 0 < version < VERSION:
            _bring_up(path, database)
            database = _connect(path)
        database.execute(f"PRAGMA journal_mode = {journal or _journal(path)}")
        # A kill loses nothing; where the power fails, cards of the last moments may be made again.
        database.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            _make(database)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(
            f"{path} cannot be used as a ledger ({error}); move it away, or choose another --out"
        ) from error
    return database


def _newer(path: Path, version: int) -> UsageError:
    return UsageError(
        f"{path} has version {version}, expected at most {VERSION}; use the newer takehome that "
        "wrote it, or choose another --out"
    )


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


@contextlib.contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Make what happens within one change: all of it is written, or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # SQLite has gone back by itself when the disk is full
            database.execute("ROLLBACK")
        raise


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _make(database: sqlite3.Connection) -> None:
    """Make the tables in one transaction, unless another process has done it meanwhile."""
    with transaction(database):
        if _version(database) == 0:
            _raise_version(database)


def _raise_version(database: sqlite3.Connection) -> None:
    for step in _STEPS[_version(database) :]:
        _execute_all(database, step)
    database.execute(f"PRAGMA user_version = {VERSION}")


def _execute_all(database: sqlite3.Connection, statements: str) -> None:
    """Run statements within the transaction that is open: ``executescript`` would end it."""
    statement = ""
    for line in statements.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            database.execute(statement)
            statement = ""


def _bring_up(path: Path, database: sqlite3.Connection) -> None:
    """Put a copy of this version in the place of an older ledger, and close that.

    Nobody else can have it open: the change of its journal's mode fails then. That also ends
    the old WAL, which would not fit the new file.
    """
    copy = path.with_name(f"{path.name}.new")
    copy.unlink(missing_ok=True)
    try:
        (mode,) = database.execute("PRAGMA journal_mode = DELETE").fetchone()
        if mode != "delete":
            raise sqlite3.OperationalError("another process has it open")
        os.close(os.open(copy, os.O_CREAT | os.O_RDWR, 0o600))
        renewed = _connect(copy)
        database.backup(renewed)
        with transaction(renewed):
            _raise_version(renewed)
        renewed.close()
        copy.replace(path)
    finally:
        database.close()
        copy.unlink(missing_ok=True)


def _journal(path: Path) -> str:
    """Return the mode of SQLite's journal that the file system of a path bears."""
    return "delete" if _file_system(path) in _REMOTE else "wal"


def _file_system(path: Path) -> str:
    """Name the file system of a path, or "" where the system does not say (as on macOS)."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    best, kind = -1, ""
    resolved = path.resolve()
    for mount in mounts.splitlines():
        before, _, after = mount.partition(" - ")
        point = Path(before.split(" ")[4].replace("\\040", " "))
        if resolved.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split(" ")[0]
    return kind
