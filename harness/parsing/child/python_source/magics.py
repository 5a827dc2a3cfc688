"""Lines that only IPython understands, in a notebook or in what it was exported to."""

from __future__ import annotations

import io
import re
import tokenize
from typing import Final

#: Cell magics whose body runs as Python in the notebook, or is a Python file that it writes.
PYTHON_CELL: Final = re.compile(
    r"%%(?:time|timeit|prun|capture|python3?|py|writefile\s+.*\.py|file\s+.*\.py)\b"
)
#: A line of IPython's own: ``%magic``, ``!command``, ``?name``, ``name?``, ``x = !command``.
MAGIC: Final = re.compile(
    r"(?P<indent>[ \t]*)"
    r"(?:(?P<target>[\w., ]+=[ \t]*)(?=[!%])|(?=[%!?])|(?=%?[\w.]+\?{1,2}[ \t]*$)).*"
)


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
        harmless = f"{found['target']}None  " if found["target"] else ""
        if found["indent"] and not harmless:  # It may be all that a block has.
            harmless = "pass  "
        kept.append(f"{found['indent']}{harmless}# {line.strip()}")
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


def syntax_error(source: str) -> str | None:
    """Say why source does not compile, or None when it does; nothing is run."""
    try:
        compile(source, "cell", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, OverflowError, MemoryError) as error:
        return type(error).__name__
    return None
