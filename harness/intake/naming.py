"""What a submission is called: its id for people, its slug for files."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Final

from harness.text import escape, one_line

ID_CAP: Final = 80
#: Hexadecimal digits that tell apart what would have the same name.
DIGITS: Final = 6
#: Of a file's name more, so that nobody can look for another file whose name would be the same.
SLUG_DIGITS: Final = 16
#: Characters of the readable part of a slug: with its digits, short of every system's limit.
SLUG_CAP: Final = 48


def identifier(name: str, ending: str = "") -> str:
    """Return a submission's id: its file's or folder's name without the ending.

    Printable Unicode in composed form (NFC), at most 80 characters, never empty; what cannot be
    seen is spelled out.
    """
    return _fitted(_readable(name.removesuffix(ending)), ID_CAP) or "unnamed"


def distinct(name: str, sha256: str) -> str:
    """Return the id of a submission whose plain id is taken: the full name and six digits."""
    digits = f"-{sha256[:DIGITS]}"
    return (_fitted(_readable(name), ID_CAP - len(digits)) or "unnamed") + digits


def same(identifier: str) -> str:
    """Return a form that is equal for ids that people, or file systems, take for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", identifier).casefold())


def slug(identifier: str, sha256: str) -> str:
    """Return an ASCII name for a submission's files: lower-case words, and sixteen hex digits.

    The digits come from the id and the content, so two submissions share a slug only if both
    agree: a second one for a given slug takes 2^64 trials (with six digits it took 34 s).
    Letters beyond ASCII that no accent explains are spelled by their code points: 李 is ``u674e``.
    """
    digits = hashlib.sha256(f"{identifier}\0{sha256}".encode("utf-8", "replace")).hexdigest()
    plain = unicodedata.normalize("NFKD", identifier).lower()
    spelled = "".join(
        character if character.isascii() else f"u{ord(character):x}"
        for character in plain
        if character.isascii() or character.isalnum()
    )
    words = re.sub(r"[^a-z0-9]+", "-", spelled)[:SLUG_CAP].strip("-")
    return f"{words or 'submission'}-{digits[:SLUG_DIGITS]}"


def _readable(name: str) -> str:
    """Compose the name, make every blank a space, and spell out what is not printable."""
    safe = one_line(unicodedata.normalize("NFC", name), 10 * ID_CAP)
    return "".join(
        " "
        if unicodedata.category(character) == "Zs"
        else character
        if character.isprintable()
        else escape(character)
        for character in safe
    ).strip()


def _fitted(name: str, cap: int) -> str:
    return name if len(name) <= cap else name[: cap - 1].rstrip() + "…"
