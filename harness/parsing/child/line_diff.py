"""The difference between two versions of a file, as a unified diff."""

import difflib
from typing import Any, Final

LINES_CAP: Final = 400


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the lines that lead from ``before`` to ``after``, with three of context."""
    before, after = (arguments[key].splitlines() for key in ("before", "after"))
    name: str = arguments["name"]
    lines = list(difflib.unified_diff(before, after, name, name, lineterm=""))
    return {"lines": lines[:LINES_CAP]}
