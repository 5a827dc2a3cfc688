"""Whose fault it was that a container ended, or fell silent: the submission's, or ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

from harness.errors import CandidateError, CandidateTimedOut, OutOfResources, SandboxBroken
from harness.sandbox import replies
from harness.sandbox.base import Limits
from harness.worker.supervisor import EXIT_DEADLINE, EXIT_TAMPERED, EXIT_UNCLEAN

#: 128 + SIGKILL.
_KILLED = 137


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ContainerState:
    """What the engine says of a container whose supervisor does not answer."""

    running: bool = False
    paused: bool = False
    memory_ran_out: bool = False  #: the kernel has killed a process in it
    exit_code: int = 0

    @classmethod
    def read(cls, state: Mapping[str, Any]) -> Self:
        """Read what ``inspect`` returns under ``State``."""
        return cls(
            running=bool(state.get("Running")),
            paused=bool(state.get("Paused")),
            memory_ran_out=bool(state.get("OOMKilled")),
            exit_code=int(state.get("ExitCode") or 0),
        )


def silence(state: ContainerState, seconds: float) -> CandidateError | SandboxBroken:
    """Return whose fault it is that no reply came in time, though the supervisor keeps the time.

    A submission that takes all processors can hold up the supervisor, but it cannot pause it.
    """
    if state.paused:
        return SandboxBroken("its container was paused from outside; unpause or remove it")
    return CandidateTimedOut(f"it did not answer within {seconds:g} s")


def why_ended(state: ContainerState, limits: Limits) -> CandidateError | SandboxBroken:
    """Return whose fault it is that a container ended in the middle of an exchange.

    A submission can end its container in three ways: by its memory, by its time, and by what it
    leaves behind or changes, of which the supervisor says so with an exit code of its own. PID 1
    is not dumpable, and a kernel ignores signals to it from inside. All else came from outside,
    or is a defect of the supervisor.
    """
    if state.running:
        return SandboxBroken("the engine let go of a container that runs; see its log")
    if state.memory_ran_out:
        return replies.how_it_ended("out_of_resources", "memory", limits, 0)
    match state.exit_code:
        case code if code == EXIT_DEADLINE:
            return CandidateTimedOut("the time of its container was spent")
        case code if code in (EXIT_TAMPERED, EXIT_UNCLEAN):
            return OutOfResources("it changed the sandbox, or left something that stays")
        case code if code == _KILLED:
            return SandboxBroken("its container was killed from outside")
        case code:
            return SandboxBroken(f"its container ended with exit status {code}; see the engine")
