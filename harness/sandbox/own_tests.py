"""What runs a candidate's own tests, and what a run of them says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class OwnTestsReport(msgspec.Struct, frozen=True):
    """What became of the tests in one run: their own word."""

    collected: int
    passed: list[str]
    failed: list[str]
    errors: list[str]  #: files of tests that could not be read
    called: list[str]  #: functions of the program that were called


class OwnTestsRunner(Protocol):
    """Runs the tests that it was given, once per program."""

    def give(self, files: Mapping[str, bytes]) -> None:
        """Hand over the files of the candidate.

        Raises:
            CandidateError, SandboxBroken: it ended.
        """

    def run(
        self,
        text: str,
        names: Sequence[str],
        *,
        entry: str,
        only: Sequence[str] | None,
        seconds: float,
    ) -> OwnTestsReport:
        """Run the tests, or only some, with a program in the place of the candidate's functions.

        Args:
            text: source of the program, which defines ``names``.
            entry: file of the candidate's that has all of them.

        Raises:
            CandidateTimedOut: they took longer than ``seconds``.
            CandidateError: they ended without a report.
            SandboxBroken: the engine failed.
        """
