"""Everything that can go wrong, as one tree.

::

    TakehomeError
    ├── UsageError              the command line, a path or a name is not usable
    │   └── UnknownName             a name is none of those there are; says which is near
    ├── SpecError               a spec breaks a rule of the spec language
    ├── Refused                 intake will not accept this submission
    ├── CandidateError          the submission did something; scored
    │   ├── CandidateRaised         its code raised
    │   ├── CandidateTimedOut       it did not answer before the deadline
    │   ├── OutOfResources          it hit the memory, output or process limit
    │   ├── CandidateCrashed        its process ended without an answer
    │   ├── ProtocolViolation       it sent bytes that the protocol does not allow
    │   ├── SubmissionEnded         an earlier event or its deadline ended it
    │   ├── NotMeasured             this sandbox cannot measure what the check asks for
    │   └── Unread                  a written answer that a person has to read
    ├── CheckFailed             the answer is wrong; carries the evidence
    ├── NotOffered              the submission has no such part; nothing is failed for it
    └── SandboxBroken           our fault, never scored
        └── SandboxUnavailable      no engine, image or runtime; says what to do
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from harness.results import Mismatch


class TakehomeError(Exception):
    """Base of every error that takehome raises on purpose."""


class UsageError(TakehomeError):
    """The user asked for something that cannot be done; the message says what to do."""


class UnknownName(UsageError):
    """A name is none of those there are; the message says which were likely meant.

    Args:
        subject: what the name is of, e.g. ``spec``.
        name: what was asked for.
        known: the names there are; all are listed if they are at most ``LISTED_NAMES``.
    """

    LISTED_NAMES = 12

    def __init__(self, subject: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        nearest = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        expected = ""
        if len(names) <= self.LISTED_NAMES:
            expected = f"one of {', '.join(names)}"
        else:
            expected = f"one of {len(names)} names"
        meant = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(f"{subject} is {name!r}, expected {expected}{meant}")


class SpecError(TakehomeError):
    """A spec breaks a rule of the spec language."""


class Refused(TakehomeError):
    """Intake refuses a submission; the message is the one line shown on its card."""


class CandidateError(TakehomeError):
    """Something the submission did; the check is scored."""


class CandidateRaised(CandidateError):
    """The candidate's code raised an exception."""

    def __init__(self, kind: str, message: str, line: int | None = None, file: str = "") -> None:
        self.kind = kind
        self.message = message
        self.line = line
        self.file = file
        said = f"line {line})" in message  # as Python says of a SyntaxError
        where = f" (line {line})" if line and not said else ""
        super().__init__(f"{kind}: {message}{where}" if message else f"{kind}{where}")


class CandidateTimedOut(CandidateError):
    """The submission did not answer before the deadline."""


class OutOfResources(CandidateError):
    """The submission was stopped at the memory, output or process limit."""


class CandidateCrashed(CandidateError):
    """The submission's process ended without an answer."""


class ProtocolViolation(CandidateError):
    """The sandbox sent bytes that the protocol does not allow."""


class SubmissionEnded(CandidateError):
    """The submission had ended before this call, or its time was spent."""


class NotMeasured(CandidateError):
    """This sandbox cannot measure what the check asks for; the message says which one can."""


class Unread(CandidateError):
    """A written answer that no reader understands; a person decides whether it is right."""


class NotOffered(TakehomeError):
    """The submission has not what a check needs, e.g. a mask; the message names it."""


class CheckFailed(TakehomeError):
    """An answer is wrong.

    The parts travel as values so that no report parses prose: ``mismatch`` is where the
    arrays differ most, or None when shapes, types or arity are wrong.
    """

    def __init__(self, message: str, mismatch: Mismatch | None = None) -> None:
        self.mismatch = mismatch
        super().__init__(message)


class SandboxBroken(TakehomeError):
    """The harness or the sandbox broke; the submission is not scored."""


class SandboxUnavailable(SandboxBroken):
    """The sandbox cannot be provided here; the message says what to do."""
