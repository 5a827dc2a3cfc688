"""How a batch goes on, as a person sees it: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.grading import Pending
from harness.results import Card, Verdict
from harness.text import one_line

#: Rows of the table; more jobs than these are counted only.
ROWS = 12
_REFRESHES = 4  #: a second


@dataclasses.dataclass(slots=True)
class Progress:
    """Counts of one run: what is done, what runs, what was tried again, and how fast it goes."""

    total: int
    clock: Callable[[], float] = time.monotonic
    running: dict[str, float] = dataclasses.field(default_factory=dict)  #: id -> when it began
    done: int = 0
    graded: int = 0  #: of those done, in this run
    verdicts: collections.Counter[Verdict] = dataclasses.field(default_factory=collections.Counter)
    again: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    slowest: tuple[float, str] = (0.0, "")
    began_at: float = 0.0

    def __post_init__(self) -> None:
        self.began_at = self.clock()

    def began(self, submission: Pending) -> None:
        """Note that a submission is with a job."""
        self.running[submission.id] = self.clock()

    def ended(self, submission: Pending, failure: str) -> None:
        """Note that a job is through with a submission, and why it will be graded again."""
        self.running.pop(submission.id, None)
        if failure:
            self.again[submission.id] += 1
        else:
            self.graded += 1

    def count(self, card: Card) -> None:
        """Note a card that is there."""
        self.done += 1
        self.verdicts[card.result.verdict] += 1
        self.slowest = max(self.slowest, (card.result.seconds, card.result.id))

    @property
    def seconds(self) -> float:
        """How long the run has lasted."""
        return self.clock() - self.began_at

    @property
    def rate(self) -> float:
        """Submissions a second that were graded in this run."""
        return self.graded / self.seconds if self.seconds > 0 else 0.0

    def tally(self) -> str:
        """Return what the run came to, in one line."""
        counts = [
            f"{self.verdicts[verdict]} {verdict.replace('_', ' ')}"
            for verdict in Verdict
            if self.verdicts[verdict]
        ]
        parts = [", ".join(counts) or "nothing graded"]
        if self.graded:
            parts.append(
                f"{self.graded} graded in {_duration(self.seconds)} ({self.rate:.1f} a second)"
            )
        if kept := self.done - self.graded:
            parts.append(f"{kept} kept from an earlier run")
        if self.graded > 1 and self.slowest[1]:
            seconds, name = self.slowest
            parts.append(f"slowest {one_line(name, 60)} ({seconds:.1f} s)")
        if self.again:
            parts.append(f"{sum(self.again.values())} graded again")
        return "; ".join(parts)

    def __rich__(self) -> RenderableType:
        waiting = max(self.total - self.done - len(self.running), 0)
        left = f"about {_duration((self.total - self.done) / self.rate)} left" if self.rate else ""
        line = Text.assemble(
            (f"{self.done} of {self.total}", "bold"),
            f" done, {len(self.running)} running, {waiting} waiting",
            f", {self.rate:.1f} a second" if self.rate else "",
            f", {left}" if left else "",
            (f", {sum(self.again.values())} graded again" if self.again else "", "yellow"),
        )
        bar = Table.grid()  # a bar by itself does not end its line
        bar.add_row(ProgressBar(total=max(self.total, 1), completed=self.done))
        return Group(bar, line, self._running())

    def _running(self) -> Table:
        """Return what runs, the longest first, and how long already."""
        table = Table.grid(padding=(0, 2))
        now = self.clock()
        oldest = sorted(self.running.items(), key=lambda pair: pair[1])
        for name, since in oldest[:ROWS]:
            tried = f"try {self.again[name] + 1}" if self.again[name] else ""
            table.add_row(one_line(name, 60), f"{now - since:.0f} s", Text(tried, style="yellow"))
        return table


def followed(
    cards: Iterable[Card],
    progress: Progress,
    console: Console,
    tell: Callable[[Card], Text] | None = None,
) -> Iterator[Card]:
    """Yield the cards, with a line for each that ``tell`` makes, if any.

    On a terminal the table stays below the lines.
    """
    if not console.is_terminal:
        for card in cards:
            progress.count(card)
            if tell is not None:
                console.print(tell(card), soft_wrap=True)
            yield card
        return
    live = Live(progress, console=console, transient=True, refresh_per_second=_REFRESHES)
    with live:
        for card in cards:
            progress.count(card)
            if tell is not None:
                live.console.print(tell(card))
            yield card


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
