"""The sandbox of written answers: nothing of a submission runs, it is read.

It takes the frames that every sandbox takes, so that a form is graded like any submission. What
it serves is one function, ``answer(question)``, which returns what stands in a field as
bytes of UTF-8.
"""

from __future__ import annotations

import io
import platform
from collections.abc import Callable
from typing import Any

from harness import answer_form
from harness.errors import CandidateCrashed
from harness.results import Environment
from harness.sandbox.base import ISOLATED, Frame, Limits, Sandbox, describe
from harness.worker import loader, session, wire

FUNCTION = "answer"


class ReadingSandbox(Sandbox):
    """Answers with what a form says."""

    guarantees = ISOLATED

    def __init__(self, *, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._session: session.CallRunner | None = None

    @property
    def environment(self) -> Environment:
        """What submissions are read with."""
        versions = {"python": platform.python_version()}
        return describe(self._limits, versions, sandbox="none: it is read", isolated=True)

    def start(self, load: bytes, seconds: float) -> Frame:
        """Read the form in a LOAD frame.

        Raises:
            Refused: it is none.
        """
        header, payload = _unpack(load)
        size = header["files"][0]["size"]
        answers = answer_form.read(bytes(payload[:size]).decode("utf-8-sig"))
        namespace: dict[str, Any] = {
            FUNCTION: lambda field: answer_form.to_bytes(answers.get(field, ""))
        }
        loaded = loader.Loaded(namespace, frozenset(), {})
        self._session = session.CallRunner(loaded, self._limits.reply_bytes, None)
        defined = {"name": FUNCTION, "kind": "function", "parameters": [{"name": "question"}]}
        reply = {"id": header["id"], "loaded": "whole", "names": [defined]}
        return Frame(reply, memoryview(b""))

    def call(self, frame: bytes, seconds: float) -> Frame:
        """Look the answers up."""
        if self._session is None:
            raise CandidateCrashed("nothing has been read")
        header, payload = _unpack(frame)
        reply, blobs = self._session.run(header, payload)
        return Frame(reply, memoryview(b"".join(blobs)))

    def log(self) -> str:
        """Nothing was printed, since nothing ran."""
        self._session = None
        return ""

    def close(self) -> None:
        """There is nothing to release."""
        self._session = None


def _unpack(frame: bytes) -> tuple[dict[str, Any], memoryview]:
    _, header, payload = wire.read(io.BytesIO(frame).read, len(frame))
    return header, payload


def opener(
    image: str, limits: Limits, *, runtime: str | None, report: Callable[[str], None]
) -> Callable[[], Sandbox]:
    """Return a function that opens a reader, which needs neither an image nor a runtime."""
    return lambda: ReadingSandbox(limits=limits)
