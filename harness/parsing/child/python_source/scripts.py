"""A script as Python reads it, also when a notebook was exported to it or a page copied."""

from __future__ import annotations

import warnings
from typing import Any

from . import characters
from .magics import PYTHON_CELL, syntax_error, without_magics


def read(text: str, *, replace: bool) -> dict[str, Any]:
    """Return the ``source`` of a script and ``notes``; what does not compile after all stays."""
    warnings.simplefilter("ignore")
    notes: list[str] = []
    if syntax_error(text) is not None:
        plain, notes = characters.plain(text, replace=replace)
        text = plain if replace else text
        lines, left_out = without_magics(without_cells(text.split("\n")))
        text = "\n".join(lines)
        notes += left_out
    return {"source": text, "cells": 0, "notes": notes}


def without_cells(lines: list[str]) -> list[str]:
    """Comment out the body of each cell magic that is not Python: up to the next blank line."""
    kept: list[str] = []
    is_body = False
    for line in lines:
        is_body = is_body and bool(line.strip())
        kept.append(f"# {line}" if is_body else line)
        is_body = is_body or (line.startswith("%%") and not PYTHON_CELL.match(line))
    return kept
