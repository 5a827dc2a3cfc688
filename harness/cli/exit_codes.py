"""What the process exits with, and what it says on the way."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from harness.results import SubmissionResult


class Exit(enum.IntEnum):
    """Exit codes; the numbers are pytest's."""

    PASSED = 0
    FAILED = 1
    INTERRUPTED = 2
    BROKEN = 3
    USAGE = 4
    NOTHING = 5


def exit_code(submissions: Sequence[SubmissionResult]) -> Exit:
    """Return what a batch exits with."""
    from harness.results import Verdict

    verdicts = {submission.verdict for submission in submissions}
    if Verdict.INVALID in verdicts:
        return Exit.BROKEN
    return Exit.PASSED if verdicts <= {Verdict.PASSED} else Exit.FAILED


def say(text: str) -> None:
    """Print a line beside the results, on standard error."""
    typer.echo(text, err=True)
