"""What the parent of a batch does by itself: submissions a second, and memory for each.

``python -m benchmarks.parent [--count N]``. An executor answers at once with the card of a right
``numpy_attention``, so that all that is measured is handing out, reading and keeping cards.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import msgspec

from harness.grading import Jobs, Ledger, Pending, card_key, grade_all
from harness.results import Card, Verdict
from tests.reports import samples

BAR = 1000  #: submissions a second
MEMORY_BAR_MB = 20  #: for each 1,000


def submissions(count: int, task: bytes) -> Iterator[Pending]:
    """Yield submissions, each with a key of its own."""
    for number in range(count):
        name = f"s{number:05}"
        yield Pending(id=name, key=card_key(b"basis", name.encode()), task=task)


def answering(card: Card) -> Jobs:
    """Return jobs that have graded a submission before it is handed to them."""
    content = msgspec.json.encode(card)

    def submit(task: bytes) -> Future[bytes]:
        future: Future[bytes] = Future()
        future.set_result(content)
        return future

    def unscored(submission: Pending, reason: str) -> Card:
        raise AssertionError(f"{submission.id} was not graded: {reason}")

    return Jobs(submit=submit, count=2, unscored=unscored)


def peak_mb() -> float:
    """Return the largest that this process has been."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    count = parser.parse_args(arguments).count
    card = samples.right()
    assert card.result.verdict is Verdict.PASSED
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder)) as ledger:
        jobs, task = answering(card), b"x" * 4000
        for submission, graded in grade_all(submissions(1000, task), jobs):
            ledger.keep(submission.key, graded, time="now", task=submission.task)
        before, began, spent = peak_mb(), time.perf_counter(), time.process_time()
        for submission, graded in grade_all(submissions(count, task), jobs):
            ledger.keep(submission.key, graded, time="now", task=submission.task)
        seconds, spent = time.perf_counter() - began, time.process_time() - spent
        grown = peak_mb() - before
    print(
        f"the parent alone, {count} submissions: {count / seconds:.0f} a second, "
        f"{count / spent:.0f} by processor time (bar: {BAR}); it grew by {grown:.1f} MB after the "
        f"first 1,000 (bar: {MEMORY_BAR_MB} MB for each 1,000)"
    )


if __name__ == "__main__":
    main()
