"""What a reply may be, for every sandbox: the answer to this frame, or word that it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import frames
from harness.errors import (
    CandidateCrashed,
    CandidateError,
    CandidateTimedOut,
    OutOfResources,
    ProtocolViolation,
)
from harness.sandbox.base import Frame, Limits, Memory
from harness.text import one_line
from harness.worker import wire

DETAIL_CAP = 200


class Ended(Exception):
    """The supervisor's word that the process ended, and that nothing of it is left."""

    def __init__(self, error: CandidateError) -> None:
        self.error = error
        super().__init__(str(error))


def read(
    receive: Callable[[int], bytes], asked: str, limits: Limits, seconds: float
) -> tuple[dict[str, Any], memoryview]:
    """Read the reply to the frame ``asked``; ``finished`` and ``memory`` frames count as one.

    Raises:
        Ended: the supervisor says that the process is over.
        ProtocolViolation: this is not the reply.
    """
    try:
        magic, header, payload = wire.read(receive, limits.reply_bytes, frames.parse_header)
    except wire.WireError as error:
        what = one_line(str(error), DETAIL_CAP)
        raise ProtocolViolation(f"its reply is malformed: {what}") from error
    if header.get("id") != asked:
        raise ProtocolViolation("its reply answers something that was not asked")
    answers = "memory" in header or header.get("ended") == "finished"
    if magic == wire.SUPERVISOR and not answers:
        how, detail = str(header.get("ended")), str(header.get("detail"))
        raise Ended(how_it_ended(how, detail, limits, seconds))
    return header, payload


def frame(header: dict[str, Any], payload: memoryview) -> Frame:
    """Wrap a reply of the submission's process.

    Raises:
        ProtocolViolation: it carries the supervisor's words.
    """
    if "ended" in header:
        raise ProtocolViolation("its reply is not an answer")
    return Frame(header, payload)


def memory(reading: object) -> Memory | None:
    """Return a reading of memory as a value."""
    match reading:
        case {"now": int(now), "peak": int(peak)}:
            return Memory(now=now, peak=peak)
    return None


def how_it_ended(how: str, detail: str, limits: Limits, seconds: float) -> CandidateError:
    """Return the error for one of the protocol's words."""
    detail = one_line(detail, DETAIL_CAP)
    if how == "timed_out":
        return CandidateTimedOut(f"it did not answer within {seconds:g} s")
    if how == "out_of_resources":
        limit = f" (limit {limits.memory_bytes >> 20} MiB)" if detail == "memory" else ""
        return OutOfResources(f"it ran out of {detail}{limit}")
    if how == "protocol_violation":
        return ProtocolViolation(detail)
    return CandidateCrashed(f"its process ended without an answer: {detail}")


def unasked() -> ProtocolViolation:
    """Return the error for bytes between two exchanges."""
    return ProtocolViolation("it sent bytes that nobody asked for")


def printed_too_much(limits: Limits) -> OutOfResources:
    """Return the error for a flood of output."""
    return OutOfResources(f"it printed more than {limits.log_bytes >> 20} MiB")
