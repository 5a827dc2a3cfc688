"""``decisions.toml`` beside the results: decisions and notes to carry elsewhere, or to bring in.

The ledger holds the truth. An entry that it has already is not written again, so that the same file
may be read any number of times.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.errors import UsageError
from harness.grading import Reviews
from harness.reviews import Decision, Entry, Note

FILE: Final = "decisions.toml"
_SIZE_CAP: Final = 16 << 20
_KINDS: Final = {"decision": Decision, "note": Note}


def decisions_toml(reviews: Reviews) -> str:
    """Return all decisions and notes of a folder as TOML."""
    parts = ["# Decisions and notes of reviewers; `takehome review` reads them in again.\n"]
    entries: Iterable[Entry] = (*reviews.decisions(), *reviews.notes())
    for entry in entries:
        name = type(entry).__name__.lower()
        fields = msgspec.to_builtins(entry).items()
        lines = [f"{key} = {_quoted(value)}" for key, value in fields if value]
        parts.append("\n".join([f"[[{name}]]", *lines, ""]))
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """Spell a text for TOML, which has JSON's escapes and lets no delete character stand."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def import_decisions(folder: Path, reviews: Reviews) -> int:
    """Append what a folder's ``decisions.toml`` has and the ledger has not; return how many.

    Raises:
        UsageError: the file cannot be read; nothing is written then.
    """
    path = folder / FILE
    if not path.exists():
        return 0
    present: set[Entry] = {*reviews.decisions(), *reviews.notes()}
    entries = [entry for entry in dict.fromkeys(read_decisions(path)) if entry not in present]
    reviews.append(entries)
    return len(entries)


def read_decisions(path: Path) -> list[Decision | Note]:
    """Read a ``decisions.toml``.

    Raises:
        UsageError: it is no TOML, or an entry is none; the message says which and what to do.
    """
    try:
        if path.stat().st_size > _SIZE_CAP:
            raise UsageError(f"{path} is larger than {_SIZE_CAP >> 20} MiB; export it again")
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read ({error}); mend that line") from None
    if unknown := sorted(content.keys() - _KINDS.keys()):
        raise UsageError(f"{path}: {unknown[0]} is not known, expected [[decision]] or [[note]]")
    return [
        _entry(path, name, number, table)
        for name in _KINDS
        for number, table in enumerate(_tables(path, name, content), 1)
    ]


def _tables(path: Path, name: str, content: dict[str, Any]) -> list[Any]:
    tables = content.get(name, [])
    if not isinstance(tables, list):
        raise UsageError(f"{path}: {name} is a value, expected tables [[{name}]]")
    return tables


def _entry(path: Path, name: str, number: int, table: object) -> Decision | Note:
    try:
        entry: Decision | Note = msgspec.convert(table, _KINDS[name])
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {name} {number} is not usable ({error}); mend it") from None
    if isinstance(entry, Decision) and entry.verdict is not None and not entry.reason:
        raise UsageError(f"{path}: {name} {number} has no reason, expected one beside its verdict")
    return entry
