"""Text made safe to show, and the one set of characters that never reaches a reader as it is.

Candidate text passes ``sanitise`` at the moment it enters the harness; reports pass every text
through ``visible`` again, since a results file may have been written by anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

#: Characters of one field (a message, a note) of a report.
FIELD_CAP: Final = 4096

#: Everything that a terminal obeys, that reorders text, that cannot be seen, or that JSON or XML
#: cannot carry: controls except newline and tab, Unicode's default-ignorable characters (bidi,
#: zero-width, fillers, tags) except the variation selectors that emoji need, line and paragraph
#: separators, interlinear marks, lone surrogates, U+FFFE and U+FFFF.
_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: What is left of an escape that a cut went through.
_CUT_ESCAPE: Final = re.compile(r"<(?:U(?:\+[0-9A-F]{0,6})?)?\Z")


def escape(character: str) -> str:
    """Spell one character so that it can be seen: U+202E becomes ``<U+202E>``."""
    return f"<U+{ord(character):04X}>"


def visible(text: str) -> str:
    """Spell out every unsafe character; newlines and tabs stay, ``\\r\\n`` becomes a newline."""
    return _UNSAFE.sub(lambda found: escape(found[0]), text.replace("\r\n", "\n"))


def sanitise(text: str, cap: int = FIELD_CAP) -> str:
    """Spell out unsafe characters and cut the text to ``cap`` characters, with a mark.

    Newlines and tabs stay; ``\\r\\n`` becomes a newline. Sanitising twice changes nothing.
    """
    safe = visible(text[: cap + 1])
    if len(safe) <= cap and len(text) <= cap:
        return safe
    mark = f" … (cut; {len(text):,} characters)"[:cap]
    return _CUT_ESCAPE.sub("", safe[: cap - len(mark)]) + mark


def one_line(text: str, cap: int = FIELD_CAP) -> str:
    """Sanitise text that belongs on a single line: newlines and tabs are spelled out too."""
    return sanitise(text.replace("\n", escape("\n")).replace("\t", escape("\t")), cap)


def join_lines(text: str) -> str:
    """Join the lines of a text by blanks, so that it cannot pass for a line of ours."""
    return " ".join(text.split())


def hidden_characters(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number, from 1, and the code point of every unsafe character."""
    for number, line in enumerate(text.split("\n"), start=1):
        for found in _UNSAFE.finditer(line):
            yield number, f"U+{ord(found[0]):04X}"
