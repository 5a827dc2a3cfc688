"""One submission in one sandbox: loaded on first need, and again after a timeout or a crash.

A timeout or a crash costs one check. A few timeouts, a protocol violation or the submission's
own deadline end it: every later exchange raises ``SubmissionEnded``.
"""

from __future__ import annotations

import dataclasses
import importlib
import secrets
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness import frames
from harness.errors import (
    CandidateError,
    CandidateTimedOut,
    NotMeasured,
    OutOfResources,
    ProtocolViolation,
    SubmissionEnded,
)
from harness.intake import Submission
from harness.protocol import Answer, PreparedSteps, Step, decode, decode_raised, encode
from harness.sandbox import Frame, Limits, Sandbox
from harness.text import one_line, sanitise
from harness.worker import loader, wire
from harness.worker.session import CallRunner

NAMES_CAP = 200
#: A frame of several exchanges has as much time as they would have, up to so many of them.
MOST_PATIENCE = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function, as its signature says."""

    name: str
    kind: str = "positional_or_keyword"
    default: bool = False  #: it need not be given
    value: bool | int | float | None = None  #: its default, where that is a number or a flag
    fields: tuple[str, ...] = ()  #: what a class reads of it: it takes an object of settings


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A function or class that the submission defines."""

    name: str
    kind: str  #: "function" or "class"
    takes: tuple[Parameter, ...] = ()  #: of a class: what its constructor takes
    call: tuple[Parameter, ...] = ()  #: of a class: what its objects take when they are called

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return tuple(parameter.name for parameter in self.takes)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What loading found: how much of the module ran, and what it defines."""

    notes: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Names of everything that can be called."""
        return frozenset(definition.name for definition in self.definitions)


class SandboxSession:
    """Answers steps by sending them to a submission in a sandbox."""

    #: M(2T) - 2·M(T) of 7 right answers lay between -1.14 and 1.33 MB, over 42 runs in containers.
    memory_noise = 5 << 18

    def __init__(
        self,
        submission: Submission,
        sandbox: Sandbox,
        limits: Limits,
        *,
        arrays: str,
        blocked: bool,
        clock: Callable[[], float],
    ) -> None:
        self._submission = submission
        self._sandbox = sandbox
        self._limits = limits
        self._arrays = arrays
        self._blocked = blocked
        self._clock = clock
        self._deadline = clock() + limits.submission_seconds
        self._loaded = False
        self._import_error: CandidateError | None = None
        self._ended = ""
        self._exhausting = 0  #: timeouts, and ends at the memory, output or process limit
        self.exchanges = 0

    def load(self) -> LoadReport:
        """Load the submission into a fresh process and say what it defines.

        Raises:
            CandidateError: it does not load; the same error is raised again by every exchange.
            SandboxBroken: the sandbox failed.
        """
        if self._import_error is not None:
            raise self._import_error
        try:
            header = self._start()
        except CandidateError as error:
            self._import_error = error
            raise
        self._loaded = True
        return _read_report(header)

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Send the steps in one frame and return one answer for each."""
        if not self._loaded:
            self.load()
        seconds = self._limits.exchange_seconds
        entries: Any
        if isinstance(steps, PreparedSteps):
            entries, blobs = steps.entries, steps.blobs
            seconds *= min(steps.exchanges, MOST_PATIENCE)
        else:
            entries, blobs = encode(steps)
        seconds = min(seconds, self._remaining())
        header = {"op": "run", "id": _fresh_id(), "seconds": seconds, "steps": entries}
        reply = self._send(header, blobs, seconds, self._sandbox.call)
        try:
            return decode(reply.header, reply.payload, len(steps))
        except wire.WireError as error:
            raise self._violation(str(error)) from None

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Load afresh, run the steps in two frames, and compare readings of memory between them."""
        self._remaining()
        self.load()
        self.exchange([warm_up])
        before = self._sandbox.memory()
        (answer,) = self.exchange([step])
        after = self._sandbox.memory()
        if before is None or after is None:
            raise NotMeasured("only a container measures how much memory a call takes")
        return answer, after.peak - before.now

    def _start(self) -> Mapping[str, Any]:
        files = self._submission.files
        seconds = min(self._limits.import_seconds, self._remaining())
        header = {
            "op": "load",
            "id": _fresh_id(),
            "seconds": seconds,
            "arrays": self._arrays,
            "origin": self._submission.origin,
            "blocked": self._blocked,
            "entry": self._submission.entry,
            "files": [{"name": file.name, "size": len(file.data)} for file in files],
        }
        blobs = [file.data for file in files]
        reply = self._send(header, blobs, seconds, self._sandbox.start)
        if "raised" in reply.header:
            try:
                raise decode_raised(reply.header["raised"])
            except wire.WireError as error:
                raise self._violation(str(error)) from None
        return reply.header

    def _send(
        self,
        header: dict[str, Any],
        blobs: Sequence[bytes],
        seconds: float,
        send: Callable[[bytes, float], Frame],
    ) -> Frame:
        self.exchanges += 1
        try:
            reply = send(frames.pack(header, blobs), seconds)
        except CandidateError as error:
            self._loaded = False
            self._count(error)
            raise
        if reply.header.get("id") != header["id"]:
            raise self._violation("a reply to something else came back")
        return reply

    def _count(self, error: CandidateError) -> None:
        if isinstance(error, ProtocolViolation):
            self._ended = "it broke the protocol"
        # A bomb costs as much patience as a loop.
        if isinstance(error, (CandidateTimedOut, OutOfResources)):
            self._exhausting += 1
            if self._exhausting >= self._limits.timeouts:
                self._ended = f"it had timed out or run out of resources {self._exhausting} times"

    def _violation(self, what: str) -> ProtocolViolation:
        self._loaded = False
        self._ended = "it broke the protocol"
        return ProtocolViolation(what)

    def _remaining(self) -> float:
        left = self._deadline - self._clock()
        if left <= 0 and not self._ended:
            self._ended = f"its {self._limits.submission_seconds:g} s were spent"
        if self._ended:
            raise SubmissionEnded(f"not run: {self._ended}")
        return left


class DirectSession:
    """Answers steps by calling functions in this process: for our own code only.

    The same conversions happen as in a sandbox, since the worker's own session does them.
    """

    #: What the conversions and a few dozen Python objects take.
    memory_noise = 16 << 10

    def __init__(self, functions: Mapping[str, Any], *, arrays: str) -> None:
        torch = importlib.import_module("torch") if arrays == "torch" else None
        loaded = loader.Loaded(dict(functions), frozenset(), {})
        self._session = CallRunner(loaded, Limits().reply_bytes, torch)

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Run the steps and return one answer for each."""
        entries, blobs = encode(steps)
        header, out = self._session.run({"id": "", "steps": entries}, memoryview(b"".join(blobs)))
        return decode(header, memoryview(b"".join(out)), len(steps))

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Run the steps, the second one under ``tracemalloc``.

        This process has a memory of its own, so its resident size says nothing. Every allocation
        is counted instead, which is exact, so that short calls are enough.
        """
        self.exchange([warm_up])
        tracemalloc.start()
        try:
            (answer,) = self.exchange([step])
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return answer, peak


def _fresh_id() -> str:
    return secrets.token_hex(16)


def _read_report(header: Mapping[str, Any]) -> LoadReport:
    """Read a load reply leniently: what is not as expected is left out, it only informs."""
    notes = []
    if header.get("loaded") == "definitions":
        reason = sanitise(str(header.get("reason", "")), 400)
        notes.append(f"Only its definitions were loaded, because {reason}")
    inert = [one_line(str(name), 60) for name in _items(header, "inert")]
    if inert:
        notes.append(f"Not available here and replaced by stand-ins: {', '.join(inert)}")
    given = [one_line(str(name), 60) for name in _items(header, "given")]
    if given:
        notes.append(f"Used without an import, and given: {', '.join(given)}")
    definitions = [
        Definition(
            name=entry["name"],
            kind=str(entry.get("kind")),
            takes=_read_parameters(entry, "parameters"),
            call=_read_parameters(entry, "call"),
        )
        for entry in _items(header, "names")
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    ]
    return LoadReport(notes=tuple(notes), definitions=tuple(definitions))


def _items(header: Mapping[str, Any], key: str) -> list[Any]:
    value = header.get(key, [])
    return value[:NAMES_CAP] if isinstance(value, list) else []


def _read_parameters(entry: Mapping[str, Any], key: str) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            item["name"],
            str(item.get("kind")),
            item.get("default") is True,
            item["value"] if type(item.get("value")) in (bool, int, float) else None,
            tuple(name for name in _items(item, "fields") if isinstance(name, str)),
        )
        for item in _items(entry, key)
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    )
