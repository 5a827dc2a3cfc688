"""Characters that Python refuses outside strings and comments, and what their writer meant.

Text copied from a page, a PDF or a Chinese keyboard has them: U+00A0 for a space, quotes that
curl, full-width punctuation, characters of no width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

SPACES: Final = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
INVISIBLE: Final = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
DOUBLE: Final = "\u201c-\u201f\u2033\uff02"
SINGLE: Final = "\u2018-\u201b\u2032\uff07"
#: Full-width ASCII but for letters and the low line, which Python takes in names, and quotes.
FULL_WIDTH: Final = "\uff01\uff03-\uff06\uff08-\uff20\uff3b-\uff3e\uff40\uff5b-\uff5e"
OTHERS: Final = {
    "\u3001": ",",
    "\u3002": ".",
    "\u3010": "[",
    "\u3011": "]",
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u00d7": "*",
    "\u00f7": "/",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u2026": "...",
}
#: A comment, a string, a string between quotes that curl, or one refused character; possessive,
#: so that it cannot backtrack.
TOKEN: Final = re.compile(
    r"(?P<kept>#[^\n]*+"
    r'|"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+(?:''')?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'(?:[^'\\\n]|\\.)*+'?)"
    rf'|(?P<double>[{DOUBLE}](?:[^{DOUBLE}"\\\n]|\\.)*+[{DOUBLE}"])'
    rf"|(?P<single>[{SINGLE}](?:[^{SINGLE}'\\\n]|\\.)*+[{SINGLE}'])"
    rf"|(?P<refused>[{SPACES}{INVISIBLE}{DOUBLE}{SINGLE}{FULL_WIDTH}{''.join(OTHERS)}])",
    re.DOTALL,
)
#: So many lines are named for each character.
LINES_NAMED: Final = 3


def meant(character: str) -> str:
    """Return what stands for a refused character in Python."""
    if re.match(f"[{SPACES}]", character):
        return " "
    if re.match(f"[{INVISIBLE}]", character):
        return ""
    if re.match(f"[{DOUBLE}]", character):
        return '"'
    if re.match(f"[{SINGLE}]", character):
        return "'"
    return OTHERS.get(character) or chr(ord(character) - 0xFEE0)


def plain(source: str, *, replace: bool) -> tuple[str, list[str]]:
    """Return source with what its refused characters mean, and notes that name them.

    The notes say what each was taken for with ``replace``, and what to write otherwise.
    """
    lines: dict[str, list[int]] = {}
    parts: list[str] = []
    done, line = 0, 1
    for start in _refused(source):
        line += source.count("\n", done, start)
        lines.setdefault(source[start], []).append(line)
        parts += [source[done:start], meant(source[start])]
        done = start + 1
    remedy = "was read as" if replace else "is refused by Python: write"
    notes = [_note(character, numbers, remedy) for character, numbers in lines.items()]
    return "".join([*parts, source[done:]]), notes


def _refused(source: str) -> Iterator[int]:
    for token in TOKEN.finditer(source):
        if token["kept"] is not None:
            continue
        yield token.start()
        if token["refused"] is None and source[token.end() - 1] not in "\"'":
            yield token.end() - 1


def _note(character: str, numbers: list[int], remedy: str) -> str:
    code = f"U+{ord(character):04X}"
    name = f"{character} ({code})" if character.isprintable() else code
    wanted = {" ": "a space", "": "nothing"}.get(meant(character), meant(character))
    lines = list(dict.fromkeys(numbers))
    named = ", ".join(map(str, lines[:LINES_NAMED]))
    more = f" and {len(lines) - LINES_NAMED} more" if len(lines) > LINES_NAMED else ""
    return f"line{'s' if len(lines) > 1 else ''} {named}{more}: {name} {remedy} {wanted}"
