"""Parsing of candidate text, in one limited child process that serves a whole batch.

Nothing a candidate wrote is parsed in the harness's own process: ``ast.parse`` of 120 KB can take
30 seconds, and deep nesting can end an interpreter. The child (``harness/parsing/child``) has
limits on memory, files and processor time, a deadline for each request, and ends when its stdin
does.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from harness.errors import Refused, SandboxBroken
from harness.text import one_line

#: 120 KB of f-string fields take ``ast.parse`` of Python 3.11 up to 4.8 s, and then it is over.
SECONDS: Final = 5.0
#: Until the child is ready, which takes 20 ms when the machine is idle.
START_SECONDS: Final = 10.0
#: One reply: an archive's files in base64, or a highlighted file.
REPLY_CAP: Final = 32 << 20
#: The highlighted form of one file; a larger one is shown as plain text.
HTML_CAP: Final = 1 << 20

_PROGRAM: Final = Path(__file__).with_name("child")
#: What a line of highlighted HTML may consist of; possessive, so that it cannot backtrack.
_HTML_LINE: Final = re.compile(
    r'(?:[^<>&\n]++|&(?:amp|lt|gt|quot|#39);|<span class="[a-z0-9]{1,4}">|</span>)*+'
)


class PythonSource(msgspec.Struct, frozen=True, kw_only=True):
    """A script, or a notebook's code cells, as one Python file."""

    source: str
    cells: int  #: of a notebook
    notes: tuple[str, ...]  #: what was left out, replaced or is to be replaced, one line each


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """What a Python file is about."""

    defines: frozenset[str] | None  #: functions and classes at top level; None if it is not Python
    imports: frozenset[str]  #: every part of the names it imports


class ArchiveEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of an archive; ``data`` is there for the wanted ones, one byte past the cap."""

    name: str
    kind: str  #: "file", "folder", or the words for what is refused
    data: bytes | None


class SourceEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A small edit of a Python file: spans of it, and the text to put there."""

    kind: str
    place: int  #: how many of its kind in its function are likelier
    function: str  #: the name at top level that it is in, or ""
    entries: tuple[int, ...]  #: places of the entries that reach that function
    about: tuple[str, ...]  #: stages, and words in ids of flaws, of the statements it changes
    description: str
    changes: tuple[tuple[int, int, str], ...]  #: first byte, byte after the last, new text


_Reply = TypeVar("_Reply", bound=msgspec.Struct)


class _Lines(msgspec.Struct, frozen=True):
    lines: tuple[str, ...]


class _Edits(msgspec.Struct, frozen=True):
    edits: tuple[SourceEdit, ...]


class _Entries(msgspec.Struct, frozen=True):
    entries: tuple[ArchiveEntry, ...]


class _Refusal(msgspec.Struct, frozen=True):
    refused: str = ""


class Parser:
    """The child process: started when first asked, again after a failure, shared by threads."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child. Safe to call twice; a later request starts another."""
        with self._lock:
            self._end()

    def notebook(self, text: str, *, replace: bool = False) -> PythonSource:
        """Join a notebook's code cells; ``replace`` characters that Python refuses.

        Raises:
            Refused: it is not a Python notebook, or parsing it failed.
        """
        arguments = {"text": text, "form": "notebook", "replace": replace}
        return self._ask("python_source", arguments, PythonSource)

    def script(self, text: str, *, replace: bool = False) -> PythonSource:
        """Leave out of a script what only IPython reads; ``replace`` what Python refuses.

        Raises:
            Refused: parsing it failed.
        """
        arguments = {"text": text, "form": "script", "replace": replace}
        return self._ask("python_source", arguments, PythonSource)

    def archive(
        self, data: bytes, form: str, *, endings: Mapping[str, int], hidden: list[str], files: int
    ) -> tuple[ArchiveEntry, ...]:
        """List the entries of a zip, tar, gz, bz2 or xz archive.

        ``endings`` maps the endings of the files to read to how many bytes are wanted of each;
        ``hidden`` are folders to leave unread; ``files`` is how many files to read at most.

        Raises:
            Refused: it is no such archive, unpacks to too much, or reading it failed.
        """
        arguments = {
            "data": base64.b64encode(data).decode("ascii"),
            "format": form,
            "endings": dict(endings),
            "hidden": hidden,
            "files": files,
        }
        return self._ask("archive_files", arguments, _Entries).entries

    def outline(self, text: str) -> Outline | None:
        """Say what a Python file defines and imports, or None when parsing failed."""
        try:
            return self._ask("outline", {"text": text}, Outline)
        except (Refused, SandboxBroken):
            return None

    def highlight(self, text: str) -> str | None:
        """Highlight Python source: escaped HTML with as many lines as the text, joined by newlines.

        The tags are ``<span class>`` only, closed in their own line. None when parsing failed or
        the result is too large: then the text is to be shown plain.
        """
        try:
            lines = self._ask("highlighted_lines", {"text": text}, _Lines).lines
        except (Refused, SandboxBroken):
            return None
        if len(lines) != text.count("\n") + 1 or sum(map(len, lines)) > HTML_CAP:
            return None
        return "\n".join(lines) if all(map(_is_harmless, lines)) else None

    def edits(self, text: str, *, entries: Sequence[str], torch: bool) -> tuple[SourceEdit, ...]:
        """List small edits that could repair an attention; none when parsing failed.

        ``entries`` are the functions and classes whose results are wrong; ``torch`` says that
        arrays are torch's.
        """
        arguments = {"text": text, "entries": list(entries), "torch": torch}
        try:
            return self._ask("edits", arguments, _Edits).edits
        except (Refused, SandboxBroken):
            return ()

    def diff(self, before: str, after: str, *, name: str) -> str:
        """Return the unified diff between two versions of a file, or "" when that failed."""
        arguments = {"before": before, "after": after, "name": name}
        try:
            return "\n".join(self._ask("line_diff", arguments, _Lines).lines)
        except (Refused, SandboxBroken):
            return ""

    def _ask(self, operation: str, arguments: Any, reply: type[_Reply]) -> _Reply:
        request = {"operation": operation, "arguments": arguments, "seconds": self._seconds}
        line = json.dumps(request).encode("ascii") + b"\n"
        with self._lock:
            answer = self._exchange(line)
        try:
            refusal = msgspec.json.decode(answer, type=_Refusal).refused
            if refusal:
                raise Refused(one_line(refusal))
            return msgspec.json.decode(answer, type=reply)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise Refused("cannot be parsed: the parser gave no proper answer") from None

    def _exchange(self, line: bytes) -> bytes:
        if self._child is None or self._child.poll() is not None:
            self._end()
            self._child = _start()
        try:
            return _transfer(self._child, line, self._seconds)
        except Refused:
            self._end()
            raise

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            _stop(child)


def _start() -> subprocess.Popen[bytes]:
    """Start the child and wait for its first line, an empty one."""
    kept = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-B", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_PROGRAM,
            env={name: os.environ[name] for name in kept if name in os.environ},
        )
    except OSError as error:
        raise SandboxBroken(f"the parser did not start: {error.strerror}") from None
    try:
        _transfer(child, b"", START_SECONDS)
    except Refused as refused:
        _stop(child)
        raise SandboxBroken(f"the parser did not start: {refused}") from None
    return child


def _transfer(child: subprocess.Popen[bytes], line: bytes, seconds: float) -> bytes:
    """Send a line to the child and return the line it answers; kill it at the deadline."""
    assert child.stdin is not None
    assert child.stdout is not None
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        child.kill()

    deadline = threading.Timer(seconds, expire)
    deadline.start()
    try:
        child.stdin.write(line)
        child.stdin.flush()
        answer = child.stdout.readline(REPLY_CAP)
    except OSError:
        answer = b""
    finally:
        deadline.cancel()
        deadline.join()
    if expired.is_set():
        raise Refused(f"cannot be parsed: it took longer than {seconds:g} s")
    if not answer.endswith(b"\n"):
        raise Refused("cannot be parsed: the parser ended, or its answer was too long")
    return answer


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


def _is_harmless(line: str) -> bool:
    """Tell whether a line of HTML is text and closed spans, and nothing else."""
    return bool(_HTML_LINE.fullmatch(line)) and line.count("<span") == line.count("</span")
