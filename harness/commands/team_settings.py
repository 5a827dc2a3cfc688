"""What a command line leaves out, as ``takehome.toml`` near the submissions settles it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness.errors import UsageError
from harness.grading import Terms
from harness.settings import Assignment, find_settings, read_settings


def settings_for(paths: Sequence[Path]) -> Assignment:
    """Return what is settled for the submissions of a run; as usual where there is no file.

    Raises:
        UsageError: a file cannot be read, or the paths belong to several assignments.
    """
    found = []
    for path in paths:
        folder = path if path.is_dir() else path.parent
        settings = read_settings(find_settings(folder))
        found.append((settings.of(path), settings.file))
    first, file = found[0]
    if any(settings != first for settings, _ in found):
        raise UsageError(
            f"{file} settles several assignments for these paths, expected one; grade them one by "
            "one, or use takehome ci"
        )
    if file is None:
        return first
    return msgspec.structs.replace(
        first,
        roster=str((file.parent / first.roster).resolve()) if first.roster else None,
        specs=tuple(str((file.parent / folder).resolve()) for folder in first.specs),
    )


def terms_of(settings: Assignment) -> Terms:
    """Return what is asked for besides the spec."""
    return Terms(require=settings.require, points=settings.points, level=settings.level)


def expect_spec(given: str | None, settings: Assignment) -> str:
    """Return which assignment it is: as given, else as settled; its file, if it is one's own.

    Raises:
        UsageError: neither says.
    """
    if spec := given or settings.spec:
        return _own(spec, settings.specs) or spec
    raise UsageError(
        "--spec is missing, expected the name of an assignment; see takehome specs, or write "
        'spec = "…" to a takehome.toml beside the submissions'
    )


def _own(name: str, folders: Sequence[str]) -> str:
    """Return the file of a spec in one of the folders of own specs, or "" where none has it."""
    for folder in map(Path, folders):
        for file in (folder / name / "spec.py", folder / f"{name}.py"):
            if file.is_file():
                return str(file)
    return ""
