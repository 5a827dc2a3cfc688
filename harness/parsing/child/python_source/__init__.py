"""What was handed in as Python text: a script, or a notebook's code cells as one script.

What only IPython understands is left out, line by line, so that line numbers stay. Characters
that Python refuses are replaced when ``replace`` is set, and named with a remedy when it is not.
"""

from __future__ import annotations

from typing import Any

from . import notebooks, scripts


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the ``source`` of ``text``, how many ``cells`` it has, and ``notes``."""
    read = notebooks.read if arguments["form"] == "notebook" else scripts.read
    return read(arguments["text"], replace=arguments["replace"])
