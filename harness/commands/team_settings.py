"""What a command line leaves out, as ``takehome.toml`` near the submissions settles it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness.errors import UsageError
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
    if first.roster and file:
        roster = (file.parent / first.roster).resolve()
        return msgspec.structs.replace(first, roster=str(roster))
    return first


def expect_spec(given: str | None, settings: Assignment) -> str:
    """Return which assignment it is: as given, else as settled.

    Raises:
        UsageError: neither says.
    """
    if spec := given or settings.spec:
        return spec
    raise UsageError(
        "--spec is missing, expected the name of an assignment; see takehome specs, or write "
        'spec = "…" to a takehome.toml beside the submissions'
    )
