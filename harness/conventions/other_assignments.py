"""Attention of other kinds, which a name or a parameter announces: right or wrong, it is not asked.

Under the brief's own name such code is a wrong answer and is graded as one. Under a name that says
what it is, or with a parameter for it, nobody can tell whether it is wrong.
"""

from __future__ import annotations

import re
from typing import Final

from harness.candidate import Definition
from harness.candidate.weights import words
from harness.conventions.definitions import call_of
from harness.spec import EntryPoint
from harness.text import one_line

#: What a name says when its words are read in order -> what that is.
_NAMES: Final = (
    (r"\b(multi query|multiquery|mqa)\b", "multi-query attention"),
    (r"\b(grouped query|group query|gqa)\b", "grouped-query attention"),
    (r"\b(sliding window|windowed attention|local attention)\b", "attention in a window"),
    (r"\b(rotary|rope)\b", "attention with rotary positions"),
    (r"\b(linear|linearized|performer|linformer) attention\b", "linear attention"),
)
_PARAMETERS: Final = (
    (r"\bkv (num )?heads?\b|\b(num|n) (kv|key value) heads?\b|\bkv groups?\b", "grouped heads"),
    (r"\bwindow( size)?\b", "a window"),
    (r"\b(rotary|rope)\b", "rotary positions"),
)


def other_assignment(point: EntryPoint, definition: Definition) -> str:
    """Say which other kind of attention a definition announces, or ""."""
    if not point.is_core:
        return ""
    name = one_line(definition.name, 60)
    if definition.name not in (point.name, *point.aliases):
        said = " ".join(words(definition.name))
        for pattern, what in _NAMES:
            if re.search(pattern, said):
                return f"{name} is {what} by its name, expected {point.name}; nothing is graded"
    for parameter in (*definition.takes, *call_of(definition)):
        if parameter.default and not parameter.value:
            continue  # it can be left out, and may then be what is asked for
        said = " ".join(words(parameter.name))
        for pattern, what in _PARAMETERS:
            if re.search(pattern, said):
                return (
                    f"{name} has a parameter for {what}, {one_line(parameter.name, 30)}, which "
                    f"{point.name} has not; nothing is graded"
                )
    return ""
