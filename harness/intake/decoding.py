"""Python source as bytes and as text: what encodings are accepted, and what hides in it."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

from harness.errors import Refused
from harness.text import hidden_characters

#: What a coding cookie may name, as ``codecs.lookup`` spells it: tables of characters, none that
#: reads escapes (``unicode_escape``, ``utf-7``), which would show other code than it runs.
ENCODINGS: Final = re.compile(
    r"ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb2312|gbk|gb18030|big5(?:hkscs)?"
    r"|shift_jis\w*|euc_\w+|johab"
)

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
            "save it as UTF-8, or say in its first line which: # -*- coding: gbk -*-"
        ) from None
    if "\0" in text:
        raise Refused(f"{name} has a NUL character, expected text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_python(name: str, data: bytes) -> str:
    """Decode a Python file by its BOM or its coding cookie, else as UTF-8.

    Raises:
        Refused: it is not in that encoding, or the cookie names none that Python texts have.
    """
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if data.startswith(mark):
            return _decoded(name, data, "utf-16")
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        encoding = codecs.lookup(declared).name
    except SyntaxError as error:  # of the cookie, or since the first lines are not UTF-8
        if "unknown encoding" in str(error):
            raise Refused(f"{name} says a coding that does not exist, expected utf-8") from None
        encoding = "utf-8"
    if encoding in ("utf-8", "utf-8-sig"):
        return decode(name, data)
    if not ENCODINGS.fullmatch(encoding):
        raise Refused(f"{name} says its coding is {encoding}, expected utf-8; save it as UTF-8")
    return _decoded(name, data, encoding)


def decode_text(name: str, data: bytes) -> tuple[str, str]:
    """Decode prose by its BOM, as UTF-8, or as the GB 18030 of Chinese editors; say which.

    Raises:
        Refused: it is in none of these, or has a NUL.
    """
    encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        encoding = "gb18030"
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            raise Refused(f"line {line} of {name} is not UTF-8; save it as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Refused(f"line {line} of {name} has a NUL character, expected text")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding


def _decoded(name: str, data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Refused(
            f"{name} says its coding is {encoding}, and byte {error.start} is not; save it as UTF-8"
        ) from None
    return decode(name, text.encode("utf-8", "replace"))


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
