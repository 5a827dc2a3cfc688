"""What every sandbox offers: three methods, its limits, and what it is."""

from __future__ import annotations

import abc
import dataclasses
import importlib.metadata
from collections.abc import Mapping
from typing import ClassVar, Final

from harness.results import Environment


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Deadlines and caps of one submission."""

    start_seconds: float = 20.0  #: until the sandbox itself is ready
    import_seconds: float = 20.0
    exchange_seconds: float = 5.0  #: one frame of calls, there and back
    submission_seconds: float = 60.0
    timeouts: int = 3  #: so many end the submission
    memory_bytes: int = 512 << 20
    processes: int = 64
    reply_bytes: int = 64 << 20  #: payload of one reply
    log_bytes: int = 8 << 20  #: what the submission may print in all
    log_head_bytes: int = 32 << 10  #: what is kept of it: the beginning ...
    log_tail_bytes: int = 8 << 10  #: ... and the end


#: Limits by image: torch needs more room and more threads; of text nothing runs.
LIMITS: Final = {
    "numpy": Limits(),
    "text": Limits(),
    "torch": Limits(memory_bytes=2 << 30, processes=256),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Frame:
    """One reply: its header and payload, already within their caps."""

    header: dict[str, object]
    payload: memoryview


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Memory of the submission's processes and files, in bytes."""

    now: int
    peak: int  #: the most since the last reading


#: What a sandbox may guarantee; the conformance suite holds each backend to what it declares.
PROCESS_TREE = "process tree"  #: processes that detached themselves are killed, too
MEMORY = "memory"
PROCESSES = "processes"
SCRATCH = "scratch"  #: files are capped in size and number, and gone afterwards
NO_NETWORK = "no network"
READ_ONLY = "read-only"
WARM = "warm"  #: numpy (and torch) are loaded before the submission is
ISOLATED = frozenset({PROCESS_TREE, MEMORY, PROCESSES, SCRATCH, NO_NETWORK, READ_ONLY, WARM})


class Sandbox(abc.ABC):
    """Runs submissions apart from the harness and relays frames to them.

    One sandbox may serve several submissions, one after another: each ``start`` begins with a
    process in which no candidate code has run.
    """

    guarantees: ClassVar[frozenset[str]] = frozenset()

    @property
    @abc.abstractmethod
    def environment(self) -> Environment:
        """What the submissions run in, for the scorecard."""

    @property
    def tainted(self) -> bool:
        """Whether something went wrong in it, so that it should not serve another submission."""
        return False

    @abc.abstractmethod
    def start(self, load: bytes, seconds: float) -> Frame:
        """Give a LOAD frame to a pristine process and return its reply.

        Also used after a timeout or a crash, to go on with the next check.

        Raises:
            CandidateError: the submission's import ended in that way.
            SandboxUnavailable: isolation cannot be provided; never falls back.
            SandboxBroken: the engine failed.
        """

    @abc.abstractmethod
    def call(self, frame: bytes, seconds: float) -> Frame:
        """Send one frame and return the reply to it; one frame is outstanding at a time.

        Raises:
            CandidateTimedOut: no whole reply within ``seconds``. The process tree is gone.
            OutOfResources, CandidateCrashed, ProtocolViolation: likewise gone.
            SandboxBroken: the engine failed.
        """

    def memory(self) -> Memory | None:
        """Read how much memory the submission has and had, and count its peak anew.

        Returns None where the system does not say.

        Raises:
            CandidateError, SandboxBroken: as ``call``.
        """
        return None

    @abc.abstractmethod
    def log(self) -> str:
        """End the submission and return what it printed since its first ``start``.

        It is capped, and its control characters are spelled out. A submission that is started
        again after a timeout goes on with the same log; after this call a new log begins.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Release everything. Safe to call twice, and after any error."""


def describe(
    limits: Limits,
    versions: Mapping[str, str],
    *,
    sandbox: str,
    isolated: bool,
    image: str = "",
    runtime: str = "",
) -> Environment:
    """Return what submissions run in, with its limits in words."""
    try:
        takehome = importlib.metadata.version("takehome")
    except importlib.metadata.PackageNotFoundError:
        takehome = "(not installed)"
    return Environment(
        takehome=takehome,
        sandbox=sandbox,
        isolated=isolated,
        image=image,
        runtime=runtime,
        python=versions.get("python", ""),
        numpy=versions.get("numpy", ""),
        torch=versions.get("torch", ""),
        limits={
            "call": f"{limits.exchange_seconds:g} s",
            "import": f"{limits.import_seconds:g} s",
            "submission": f"{limits.submission_seconds:g} s",
            "memory": f"{limits.memory_bytes >> 20} MiB",
            "processes": str(limits.processes),
            "reply": f"{limits.reply_bytes >> 20} MiB",
            "output": f"{limits.log_bytes >> 20} MiB",
        },
    )
