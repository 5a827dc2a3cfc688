"""A batch of submissions: handed to jobs, tried again when a job broke, and back as cards."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Final, Protocol

import msgspec

from harness.errors import SandboxBroken
from harness.results import Card, Verdict
from harness.text import one_line

#: How often a submission is tried when what broke was ours: the engine, the sandbox, a job.
TRIES: Final = 3
#: So many in a row that could not be graded are one fault of ours, and end the batch.
BROKEN_IN_A_ROW: Final = 5


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A submission that is to be graded, and what became of it so far."""

    id: str
    key: str  #: what its card is kept under
    task: bytes
    failures: tuple[str, ...] = ()  #: why it could not be graded, once for each time

    def after(self, failure: str) -> Pending:
        """Return it with one more failure."""
        return dataclasses.replace(self, failures=(*self.failures, failure))


class Watcher(Protocol):
    """Sees how a batch goes on."""

    def began(self, submission: Pending) -> None:
        """See that a submission is handed to a job."""

    def ended(self, submission: Pending, failure: str) -> None:
        """See that a job is through with it; ``failure`` says why it is to be graded again."""


class Unwatched:
    """Nobody looks."""

    def began(self, submission: Pending) -> None:
        """Look away."""

    def ended(self, submission: Pending, failure: str) -> None:
        """Look away."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """What a batch is graded by."""

    submit: Callable[[bytes], Future[bytes]]  #: from a task to a card as JSON
    count: int  #: submissions at a time
    unscored: Callable[[Pending, str], Card]  #: the card of one that cannot be graded, and why
    stopping: Callable[[], bool] = lambda: False  #: whether no further submission is to be begun
    watcher: Watcher = dataclasses.field(default_factory=Unwatched)


def grade_all(pending: Iterable[Pending], jobs: Jobs) -> Iterator[tuple[Pending, Card]]:
    """Yield each submission with its card as they are done.

    A submission whose sandbox broke, or whose job died, is graded again, up to ``TRIES`` times
    in all: alone, since where several were under way nobody knows which of them ended the job.

    Raises:
        SandboxBroken: ``BROKEN_IN_A_ROW`` submissions could not be graded, or no sandbox opens.
    """
    queue = _Queue(pending, jobs)
    in_a_row = 0
    while True:
        queue.fill()
        if not queue.running:
            return
        done, _ = wait(queue.running, return_when=FIRST_COMPLETED)
        for future in done:
            submission = queue.running.pop(future)
            try:
                card = msgspec.json.decode(future.result(), type=Card)
            except BrokenExecutor:
                if not queue.is_alone:
                    queue.again.append(submission)
                    jobs.watcher.ended(submission, "a job ended beside it")
                    continue
                card = jobs.unscored(submission, "the process that graded it ended")
            broken = card.result.verdict is Verdict.INVALID
            if broken and len(submission.failures) + 1 < TRIES:
                queue.again.append(submission.after(card.result.reason))
                jobs.watcher.ended(submission, card.result.reason)
                continue
            jobs.watcher.ended(submission, "")
            yield submission, _with_failures(card, submission)
            in_a_row = in_a_row + 1 if broken else 0
            if in_a_row == BROKEN_IN_A_ROW:
                reason = one_line(card.result.reason, 400)
                raise SandboxBroken(f"{in_a_row} submissions in a row were not graded: {reason}")


class _Queue:
    """The submissions that wait, and those that run."""

    def __init__(self, pending: Iterable[Pending], jobs: Jobs) -> None:
        self._waiting = iter(pending)
        self._jobs = jobs
        self.again: collections.deque[Pending] = collections.deque()
        self.running: dict[Future[bytes], Pending] = {}
        self.is_alone = False  #: what runs is tried again, and nothing runs beside it

    def fill(self) -> None:
        """Keep every job busy, and one submission at hand for the first that is free."""
        jobs = self._jobs
        if self.again:
            if not self.running and not jobs.stopping():
                self.is_alone = True
                self._begin(self.again.popleft())
            return
        self.is_alone = False
        while len(self.running) <= jobs.count and not jobs.stopping():
            if (submission := next(self._waiting, None)) is None:
                return
            self._begin(submission)

    def _begin(self, submission: Pending) -> None:
        self.running[self._jobs.submit(submission.task)] = submission
        self._jobs.watcher.began(submission)


def _with_failures(card: Card, pending: Pending) -> Card:
    """Note on a card why it was graded again."""
    notes = [f"Graded again, since {one_line(reason, 200)}" for reason in pending.failures]
    result = msgspec.structs.replace(card.result, notes=(*card.result.notes, *notes))
    return msgspec.structs.replace(card, result=result) if notes else card
