"""A notebook's code cells as one Python file.

Each cell begins with a marker, ``# %% cell 3``: the third code cell from the top. What only
IPython understands is commented out, line by line, so that line numbers within a cell stay.
"""

import __future__

import io
import re
import tokenize
import warnings
from typing import Any, Final

import nbformat

#: Cell magics whose body runs as Python in the notebook, or is a Python file that it writes.
PYTHON_CELL: Final = re.compile(
    r"%%(?:time|timeit|prun|capture|python3?|py|writefile\s+.*\.py|file\s+.*\.py)\b"
)
#: A line of IPython's own: ``%magic``, ``!command``, ``?name``, ``name?``, ``x = !command``.
MAGIC: Final = re.compile(
    r"(?P<indent>[ \t]*)"
    r"(?:(?P<target>[\w., ]+=[ \t]*)(?=[!%])|(?=[%!?])|(?=%?[\w.]+\?{1,2}[ \t]*$)).*"
)
FUTURE: Final = re.compile(
    r"from[ \t]+__future__[ \t]+import[ \t]+\(?([\w, \t]+)\)?[ \t]*(?:#.*)?$"
)


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the ``source`` of the notebook ``text``, how many ``cells``, and ``notes``."""
    warnings.simplefilter("ignore")
    try:
        notebook = nbformat.reads(arguments["text"], as_version=4)  # type: ignore[no-untyped-call]
        language = notebook.metadata.get("kernelspec", {}).get("language", "python")
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    except Exception as error:  # nbformat raises whatever the JSON's shape leads to
        return {"refused": f"is not a readable notebook ({type(error).__name__})"}
    if not all(isinstance(cell, str) for cell in [language, *cells]):
        return {"refused": "is not a readable notebook (a cell is not text)"}
    if language.lower() not in ("python", "python3", "ipython"):
        return {"refused": f"is a notebook in {language[:40]}, expected Python"}
    return join(cells)


def join(cells: list[str]) -> dict[str, Any]:
    """Join cells under their markers."""
    futures: list[str] = []
    notes: list[str] = []
    parts: list[str] = []
    for number, cell in enumerate(cells, start=1):
        lines, said = python_lines(cell.replace("\r\n", "\n").replace("\r", "\n"))
        notes += [f"cell {number}: {note}" for note in said]
        parts += [f"# %% cell {number}", *without_futures(lines, futures), ""]
    if futures:
        # Python wants these before everything else in the file.
        parts.insert(0, f"from __future__ import {', '.join(dict.fromkeys(futures))}")
    return {"source": "\n".join(parts), "cells": len(cells), "notes": notes}


def python_lines(cell: str) -> tuple[list[str], list[str]]:
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
    # A magic is never Python, so only a cell that does not compile can hold one.
    lines, left_out = without_magics(lines)
    notes += left_out
    if left_out:
        error = syntax_error("\n".join(lines))
    if error is not None:
        notes.append(f"left out, since it is not valid Python ({error})")
        lines = [f"# {line}" for line in lines]
    return lines, notes


def syntax_error(source: str) -> str | None:
    """Say why source does not compile, or None when it does; nothing is run."""
    try:
        compile(source, "cell", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, OverflowError, MemoryError) as error:
        return type(error).__name__
    return None


def without_magics(lines: list[str]) -> tuple[list[str], list[str]]:
    """Replace each magic by a statement that does nothing, or gives its target None."""
    kept: list[str] = []
    notes: list[str] = []
    continued = False
    for line in lines:
        if continued:
            continued = line.endswith("\\")
            kept.append(f"# {line}")
            continue
        found = MAGIC.fullmatch(line)
        if found is None or is_inside_statement(kept):
            kept.append(line)
            continue
        continued = line.endswith("\\")
        said = line.strip(" \t\\")
        harmless = f"{found['target']}None" if found["target"] else "pass"
        kept.append(f"{found['indent']}{harmless}  # {line.strip()}")
        notes.append(f"{said} was left out")
    return kept, notes


def is_inside_statement(lines: list[str]) -> bool:
    """Tell whether the next line would continue a bracket, a string, or a backslash."""
    if lines and lines[-1].rstrip().endswith("\\"):
        return not lines[-1].lstrip().startswith("#")
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            pass
    except tokenize.TokenError as error:
        return "multi-line" in str(error) or "triple-quoted" in str(error)
    except SyntaxError:  # Indentation, which a later line may mend.
        return False
    return False


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
