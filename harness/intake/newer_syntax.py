"""Whether a line that does not compile is Python of a later version than the sandbox's."""

from __future__ import annotations

import re
from typing import Final


def _f_string(quote: str) -> re.Pattern[str]:
    """Match an f-string that has its own quote, a backslash or the line's end in its braces."""
    return re.compile(
        rf".*?\b[rR]?[fF][rR]?{quote}(?:[^{quote}{{]|\{{[^{{}}{quote}\\]*\}})*+"
        rf"\{{[^{{}}{quote}\\]*(?:[{quote}\\][^{{}}]*\}}|\Z)"
    )


#: Version -> what it added; a line of it is a syntax error before.
_ADDED: Final = (
    ((3, 12), re.compile(r"\s*type\s+\w+\s*(?:\[[^\]]*\]\s*)?=")),
    ((3, 12), re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[")),
    ((3, 12), _f_string('"')),
    ((3, 12), _f_string("'")),
    ((3, 14), re.compile(r""".*(?<!\w)[tT]["']""")),
)
_HERE: Final = re.compile(r", in Python (\d+)\.(\d+)\Z")


def python_needed(line: str, message: str) -> str:
    """Return ``Python 3.12, this sandbox has 3.11`` for a line that the message refuses, or "".

    ``message`` is that of the SyntaxError, which ends with the version that gave it.
    """
    if (version := _HERE.search(message)) is None:
        return ""
    here = int(version[1]), int(version[2])
    for needed, pattern in _ADDED:
        if here < needed and pattern.match(line[:1000]):
            return f"Python {needed[0]}.{needed[1]}, this sandbox has {here[0]}.{here[1]}"
    return ""
