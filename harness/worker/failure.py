"""What the submission raised, as data: type, message, and the line of its own code."""

from __future__ import annotations

import sys
from collections.abc import Container
from types import TracebackType
from typing import Any

from .values import NAME_CAP, printable

MESSAGE_CAP = 1024
_FRAMES_CAP = 10_000


def describe(error: BaseException, files: Container[str]) -> dict[str, Any]:
    """Return the ``raised`` entry of an exception whose methods may be hostile."""
    file, line = _position(error, files)
    return {
        "type": _kind(error),
        "message": _message(error),
        "line": line,
        "file": file[:NAME_CAP],
    }


def in_words(raised: dict[str, Any], cap: int = 200) -> str:
    """Return a ``raised`` entry as one phrase."""
    return f"{raised['type']}: {raised['message'][:cap]}"


def _kind(error: BaseException) -> str:
    name: str = type.__dict__["__name__"].__get__(type(error))
    return printable(name[:NAME_CAP])


def _message(error: BaseException) -> str:
    try:
        # A __str__ may return a subclass of str that overrides everything: join copies it.
        text = "".join([str(error)])
    except BaseException:
        return "(its message could not be read)"
    if type(error) is SyntaxError:  # it may be the syntax of another version
        text += ", in Python {}.{}".format(*sys.version_info)
    text = printable(text[:MESSAGE_CAP])
    while len(text.encode()) > MESSAGE_CAP:
        text = text[: len(text) * 3 // 4]
    return text


def _position(error: BaseException, files: Container[str]) -> tuple[str, int | None]:
    """Return the innermost file and line of the submission that the exception came through."""
    if isinstance(error, SyntaxError) and error.filename in files and type(error.lineno) is int:
        return str(error.filename), error.lineno
    found: tuple[str, int | None] = "", None
    frame: TracebackType | None = error.__traceback__
    for _ in range(_FRAMES_CAP):
        if frame is None:
            break
        name = frame.tb_frame.f_code.co_filename
        if name in files:
            found = name, frame.tb_lineno
        frame = frame.tb_next
    return found
