"""Consoles that cannot show every character: cp1252 on Windows, ASCII without a locale."""

from __future__ import annotations

import codecs
import sys
from typing import Final

#: What stands for a character of ours that a console cannot show.
PLAIN: Final = {
    "√": "sqrt ", "✕": "x", "✓": "ok", "×": "x", "÷": "/", "≠": "!=", "≤": "<=", "≥": ">=",
    "−": "-", "–": "-", "—": "-", "…": "...", "∞": "inf", "ᵀ": "^T", "·": "*", "Σ": "sum ",
    "±": "+-", "’": "'", "“": '"', "”": '"', "⁻": "^-", "⁶": "6", "→": "->",
}  # fmt: skip


def plain(error: UnicodeError) -> tuple[str, int]:
    """Spell what an encoding does not have; ``?`` stands for what nobody can spell."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    spelled = "".join(PLAIN.get(character, "?") for character in text)
    return spelled.encode(error.encoding, "replace").decode(error.encoding), error.end


def let_consoles_spell() -> None:
    """Let both streams spell what they cannot show, instead of ending the command."""
    codecs.register_error("takehome-plain", plain)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # what replaces a stream, e.g. in a notebook, shows all
            reconfigure(errors="takehome-plain")
