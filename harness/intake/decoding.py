"""Python source as bytes and as text: what encodings are accepted, and what hides in it."""

from __future__ import annotations

import codecs
import io
import tokenize
from collections.abc import Iterator
from typing import Final

from harness.errors import Refused
from harness.text import hidden_characters

#: So many notes on one file are worth reading.
NOTES_CAP: Final = 8
#: So many blanks in a row push code off any screen.
BLANKS: Final = 200


def decode(name: str, data: bytes) -> str:
    """Decode a file strictly as UTF-8; a BOM is dropped, newlines are as Python counts them.

    Raises:
        Refused: it is in another encoding, says that it is, or has a NUL.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(
            f"{name} is not UTF-8 (byte {error.start} is 0x{data[error.start]:02x}); "
            "save it as UTF-8"
        ) from None
    if "\0" in text:
        raise Refused(f"{name} has a NUL character, expected text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_python(name: str, data: bytes) -> str:
    """Decode a Python file, as ``decode`` does, and check its coding cookie.

    Raises:
        Refused: also when the cookie names another encoding, or none that exists.
    """
    text = decode(name, data)
    try:
        found, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        encoding = codecs.lookup(found).name
    except SyntaxError:
        encoding = "unknown"
    if encoding not in ("utf-8", "utf-8-sig"):
        raise Refused(f"{name} says its coding is {encoding}, expected utf-8; drop that comment")
    return text


def oddities(text: str) -> Iterator[str]:
    """Note what a reader of the source would not see: hidden characters, code far to the right."""
    found = dict.fromkeys(hidden_characters(text))
    for line, code in list(found)[:NOTES_CAP]:
        yield f"line {line} has the hidden character {code}"
    if len(found) > NOTES_CAP:
        yield f"{len(found) - NOTES_CAP} more lines have hidden characters"
    far = [n for n, line in enumerate(text.split("\n"), start=1) if " " * BLANKS in line.rstrip()]
    for number in far[:NOTES_CAP]:
        yield f"line {number} has code after more than {BLANKS} blanks"
