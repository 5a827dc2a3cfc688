"""A notebook's code cells as one Python file.

Each cell begins with a marker, ``# %% cell 3``: the third code cell from the top. What only
IPython understands is commented out, line by line, so that line numbers within a cell stay.
"""

from __future__ import annotations
import __future__

import re
import warnings
from typing import Any, Final

import nbformat

from . import characters
from .magics import PYTHON_CELL, syntax_error, without_magics

FUTURE: Final = re.compile(
    r"from[ \t]+__future__[ \t]+import[ \t]+\(?([\w, \t]+)\)?[ \t]*(?:#.*)?$"
)


def read(text: str, *, replace: bool) -> dict[str, Any]:
    """Return the ``source`` of a notebook, how many ``cells``, and ``notes``."""
    warnings.simplefilter("ignore")
    try:
        notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        language = notebook.metadata.get("kernelspec", {}).get("language", "python")
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    except Exception as error:  # nbformat raises whatever the JSON's shape leads to
        return {"refused": f"is not a readable notebook ({type(error).__name__})"}
    if not all(isinstance(cell, str) for cell in [language, *cells]):
        return {"refused": "is not a readable notebook (a cell is not text)"}
    if language.lower() not in ("python", "python3", "ipython"):
        return {"refused": f"is a notebook in {language[:40]}, expected Python"}
    return join(cells, replace=replace)


def join(cells: list[str], *, replace: bool) -> dict[str, Any]:
    """Join cells under their markers."""
    futures: list[str] = []
    notes: list[str] = []
    parts: list[str] = []
    for number, cell in enumerate(cells, start=1):
        lines, said = python_lines(cell.replace("\r\n", "\n").replace("\r", "\n"), replace=replace)
        notes += [f"cell {number}: {note}" for note in said]
        parts += [f"# %% cell {number}", *without_futures(lines, futures), ""]
    if futures:
        # Python wants these before everything else in the file.
        parts.insert(0, f"from __future__ import {', '.join(dict.fromkeys(futures))}")
    return {"source": "\n".join(parts), "cells": len(cells), "notes": notes}


def python_lines(cell: str, *, replace: bool) -> tuple[list[str], list[str]]:
    """Return a cell's lines as Python, and notes on what was left out."""
    lines = cell.split("\n")
    notes: list[str] = []
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        magic = lines[first].split()[0]
        if not PYTHON_CELL.match(lines[first]):
            return [f"# {line}" for line in lines], [f"the {magic} cell was left out"]
        notes.append(f"{magic} was left out, its body kept")
        lines[first] = f"# {lines[first]}"
    if (error := syntax_error("\n".join(lines))) is None:
        return lines, notes
    # Neither refused characters nor a magic are Python: only what does not compile holds any.
    plain, said = characters.plain("\n".join(lines), replace=replace)
    notes += said
    if replace:
        lines = plain.split("\n")
    lines, left_out = without_magics(lines)
    notes += left_out
    if left_out or said:
        error = syntax_error("\n".join(lines))
    if error is not None:
        notes.append(f"left out, since it is not valid Python ({error})")
        lines = [f"# {line}" for line in lines]
    return lines, notes


def without_futures(lines: list[str], futures: list[str]) -> list[str]:
    """Comment out ``from __future__`` lines and add their names to ``futures``."""
    kept = []
    for line in lines:
        found = FUTURE.fullmatch(line)
        names = [name.strip() for name in found[1].split(",")] if found else []
        if names and all(name in __future__.all_feature_names for name in names):
            futures += names
            kept.append(f"# {line}")
        else:
            kept.append(line)
    return kept
