"""``takehome.toml``: what a team settles once for its submissions.

``spec = "numpy_attention"`` at the top holds for every submission; an ``[[assignment]]`` with
``path`` and ``spec`` for those in a folder. What an assignment leaves out, the top level says.

::

    spec = "numpy_attention"
    conventions = "adapt"
    deadline = 2026-12-01T18:00:00+01:00

    [limits]
    submission_seconds = 120

    [[assignment]]
    path = "torch/"
    spec = "torch_sdpa"
    require = ["mask"]
"""

from __future__ import annotations

import datetime
import difflib
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from harness.errors import UsageError
from harness.results import Level, Points

FILE: Final = "takehome.toml"
_SIZE_CAP: Final = 1 << 20

_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Table = TypeVar("_Table", bound=msgspec.Struct)


class LimitChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of a submission that differ from the sandbox's own; the names are the sandbox's."""

    import_seconds: _Positive | None = None
    exchange_seconds: _Positive | None = None
    submission_seconds: _Positive | None = None
    timeouts: _Count | None = None
    memory_bytes: _Count | None = None
    processes: _Count | None = None

    def changes(self) -> dict[str, Any]:
        """Return what is set, by name."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not None}


class Assignment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the submissions below one path are graded."""

    path: str = "."  #: relative to the file
    spec: str | None = None
    conventions: Literal["strict", "adapt"] = "strict"
    require: tuple[str, ...] = ()  #: parts whose absence is a failure, e.g. "mask"
    points: dict[str, Points] = {}  #: check id -> its points here
    level: Level = Level.PASS  #: what is to be reached for the verdict passed
    deadline: datetime.datetime | None = None  #: a date alone means the end of that day
    audience: Literal["interviewer", "candidate"] = "interviewer"
    specs: tuple[str, ...] = ()  #: folders of own or hidden specs, relative to the file
    roster: str | None = None  #: CSV of the people, relative to the file
    limits: LimitChanges = LimitChanges()


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All of a ``takehome.toml``."""

    file: Path | None  #: None when there is none, and everything is as usual
    everywhere: Assignment = Assignment()
    assignments: tuple[Assignment, ...] = ()
    retention_days: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def of(self, path: Path) -> Assignment:
        """Return the settings of a submission: those of the longest ``path`` that holds it."""
        if self.file is None:
            return self.everywhere
        try:
            relative = path.resolve().relative_to(self.file.parent.resolve())
        except ValueError:
            return self.everywhere
        inside = PurePosixPath(relative.as_posix())
        holding = [one for one in self.assignments if inside.is_relative_to(one.path)]
        return max(holding, key=lambda one: len(PurePosixPath(one.path).parts), default=None) or (
            self.everywhere
        )


def find_settings(start: Path) -> Path | None:
    """Return the ``takehome.toml`` of a folder, or of the nearest folder above it."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
    return None


def read_settings(file: Path | None) -> Settings:
    """Read a ``takehome.toml``; without one everything is as usual.

    Raises:
        UsageError: it cannot be read; the message says file, line and remedy.
    """
    if file is None:
        return Settings(file=None)
    try:
        if file.stat().st_size > _SIZE_CAP:
            raise UsageError(f"{file} is larger than {_SIZE_CAP >> 20} MiB, expected settings")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read ({error}); expected settings in UTF-8") from None
    return parse_settings(text, file)


def parse_settings(text: str, file: Path) -> Settings:
    """Read the text of a ``takehome.toml``, which may come from another commit than the file.

    Raises:
        UsageError: it says something that is not known; the message names the nearest key.
    """
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is no TOML ({error}); mend that line") from None
    tables = content.pop("assignment", [])
    retention = content.pop("retention_days", None)
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{file}: assignment is a value, expected tables [[assignment]]")
    reader = _Reader(text, file)
    everywhere = reader.convert(content, Assignment, top=True)
    return Settings(
        file=file,
        everywhere=everywhere,
        assignments=tuple(
            reader.convert({**content, **table, **_limits(content, table)}, Assignment)
            for table in tables
        ),
        retention_days=reader.convert({"retention_days": retention}, _Retention).retention_days,
    )


class _Retention(msgspec.Struct, frozen=True):
    retention_days: Annotated[int, msgspec.Meta(ge=1)] | None = None


def _limits(above: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """Return the limits of an assignment on top of those for all."""
    both = (above.get("limits", {}), table.get("limits", {}))
    if not all(isinstance(one, dict) for one in both):
        return {}
    return {"limits": {**both[0], **both[1]}}


class _Reader:
    """Turns tables into values, and says where in the file one is wrong."""

    def __init__(self, text: str, file: Path) -> None:
        self._lines = text.splitlines()
        self._file = file

    def convert(self, table: dict[str, Any], kind: type[_Table], *, top: bool = False) -> _Table:
        self._refuse_unknown(table, [*kind.__struct_fields__, *(_TOP_KEYS if top else ())])
        if isinstance(limits := table.get("limits"), dict):
            self._refuse_unknown(limits, LimitChanges.__struct_fields__)
        if top and "path" in table:
            raise UsageError(
                f"{self._place('path')}: path is set for all, expected it in an [[assignment]]; "
                "move it there"
            )
        deadline = table.get("deadline")
        if isinstance(deadline, datetime.date) and not isinstance(deadline, datetime.datetime):
            table = {**table, "deadline": datetime.datetime.combine(deadline, _LAST_SECOND)}
        try:
            return msgspec.convert(table, kind)
        except msgspec.ValidationError as error:
            what, _, where = str(error).partition(" - at `$.")
            names = re.findall(r"\w+", where)
            key = names[-1] if names[:1] == ["limits"] else (names or ["a value"])[0]
            raise UsageError(f"{self._place(key)}: {key} is not usable ({what}); mend it") from None

    def _refuse_unknown(self, table: dict[str, Any], known: tuple[str, ...] | list[str]) -> None:
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
                meant = f"; did you mean {near[0]}?" if near else ""
                names = ", ".join(sorted(known))
                raise UsageError(
                    f"{self._place(key)}: {key} is not known, expected one of {names}{meant}"
                )

    def _place(self, key: str) -> str:
        """Return the file and, where it can be told, the line that sets a key."""
        setting = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=\].]")
        lines = (number for number, line in enumerate(self._lines, 1) if setting.match(line))
        line = next(lines, None)
        return f"{self._file}, line {line}" if line else str(self._file)


_LAST_SECOND: Final = datetime.time(23, 59, 59)
_TOP_KEYS: Final = ("assignment", "retention_days")
