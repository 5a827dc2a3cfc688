"""The folder that a batch is graded into: its cards and reports, for one audience."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

import reports
from harness.commands import review
from harness.commands.likeness import Likeness
from harness.commands.opinions import read_opinions
from harness.errors import SandboxBroken, TakehomeError, UsageError
from harness.language import ENGLISH, Language
from harness.results import BatchResults, Card, Level, SubmissionResult, Verdict

Say = Callable[[str], None]


class OutputFolder:
    """Where the reports of a batch go; those for candidates are in ``candidate/`` alone."""

    def __init__(self, path: Path, *, for_candidates: bool, language: Language = ENGLISH) -> None:
        self._path = path
        self._language = language
        self.for_candidates = for_candidates
        self._opinions = read_opinions(path)  #: as of now; the batch's page reads them again
        self._likeness = Likeness()

    def prepare(self) -> None:
        """Make the folder, and try it.

        Raises:
            UsageError: it cannot be made or written to.
        """
        with named_problems(UsageError):
            reports.prepare(self._path)

    def write_card(self, card: Card) -> SubmissionResult:
        """Write the page of one submission, and return what is to be reported of it.

        A submission whose page would replace another's has no page, and no score.

        Raises:
            SandboxBroken: the disk does not take it.
        """
        try:
            with named_problems(SandboxBroken):
                self._write_card(card)
        except reports.Taken as taken:
            return msgspec.structs.replace(
                card.result,
                verdict=Verdict.INVALID,
                reason=f"{taken}; rename one of the two",
                card="",
                level=Level.NONE,
                earned=None,
            )
        return card.result

    def _write_card(self, card: Card) -> None:
        if self.for_candidates:
            reports.write_candidate(card, self._path, language=self._language)
        else:
            review.prepare([card], self._path)
            self._likeness.add(card)
            context = reports.context_of(card, self._opinions)
            reports.write_card(card, self._path, context, language=self._language)

    def remove(self, pages: Iterable[str]) -> None:
        """Remove the pages of submissions that are no longer in the batch.

        Raises:
            SandboxBroken: one cannot be removed.
        """
        with named_problems(SandboxBroken):
            for page in pages:
                reports.remove_card(page, self._path)

    def write(self, results: BatchResults, say: Say) -> None:
        """Write the reports of the whole batch and say where they are.

        Raises:
            SandboxBroken: the disk does not take them.
        """
        if self.for_candidates:
            say(f"cards for the candidates: {self._path / 'candidate'}")
            return
        with named_problems(SandboxBroken):
            reports.write(
                results,
                (),
                self._path,
                opinions=read_opinions(self._path),
                look_alikes=self._likeness.pairs(),
                language=self._language,
            )
        say(f"scorecards: {self._path / 'index.html'}")


@contextlib.contextmanager
def named_problems(kind: type[TakehomeError]) -> Iterator[None]:
    """Turn what reports say about a folder into an error of the command line."""
    try:
        yield
    except reports.Taken:
        raise
    except (reports.Unreadable, reports.Unwritable) as error:
        raise kind(str(error)) from None
