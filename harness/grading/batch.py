"""Many submissions: each graded in a sandbox of its own, or in one that serves several."""

from __future__ import annotations

import dataclasses
import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from harness.grading.grading import Assignment, grade
from harness.intake import Delivery
from harness.results import Card, Verdict
from harness.sandbox import Sandbox

OpenSandbox = Callable[[], Sandbox]


class Slots:
    """The sandboxes of a batch, one for each job at a time.

    With ``reuse`` a sandbox serves one submission after another until it is worn: after a
    timeout, a kill, a violation, anything left behind, or ``most`` submissions.
    """

    def __init__(self, open_sandbox: OpenSandbox, *, reuse: bool, most: int = 100) -> None:
        self._open = open_sandbox
        self._reuse = reuse
        self._most = most
        self._free: queue.SimpleQueue[tuple[Sandbox, int]] = queue.SimpleQueue()

    def take(self) -> tuple[Sandbox, int]:
        """Return a sandbox and how many submissions it has served."""
        try:
            return self._free.get_nowait()
        except queue.Empty:
            return self._open(), 0

    def give_back(self, sandbox: Sandbox, served: int) -> None:
        """Keep a sandbox for the next submission, or close it."""
        if self._reuse and not sandbox.tainted and served < self._most:
            self._free.put((sandbox, served))
        else:
            sandbox.close()

    def close(self) -> None:
        """Close every sandbox that is kept."""
        while not self._free.empty():
            self._free.get_nowait()[0].close()


def grade_all(
    deliveries: Sequence[Delivery], assignment: Assignment, slots: Slots, *, jobs: int
) -> Iterator[Card]:
    """Grade every delivery and yield the cards as they are done.

    When the caller stops, no further submission is begun, the time of those that run is over
    after their present exchange, and no sandbox is left.
    """
    stop = threading.Event()
    clock = assignment.clock
    assignment = dataclasses.replace(
        assignment, clock=lambda: math.inf if stop.is_set() else clock()
    )
    waiting = iter(deliveries)
    with ThreadPoolExecutor(jobs, thread_name_prefix="grading") as pool:
        running: set[Future[Card]] = set()
        try:
            for delivery in waiting:
                running.add(pool.submit(_grade_one, delivery, assignment, slots, stop))
                if len(running) == jobs:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            stop.set()
            wait(running)
            slots.close()


def _grade_one(
    delivery: Delivery, assignment: Assignment, slots: Slots, stop: threading.Event
) -> Card:
    """Grade one delivery; once more when the sandbox broke before the submission ran."""
    card = _attempt(delivery, assignment, slots)
    ran = bool(card.result.checks) or card.result.exchanges > 1
    if card.result.verdict is Verdict.INVALID and not ran and not stop.is_set():
        card = _attempt(delivery, assignment, slots)
    return card


def _attempt(delivery: Delivery, assignment: Assignment, slots: Slots) -> Card:
    sandbox, served = slots.take()
    try:
        card = grade(delivery, assignment, sandbox)
    except BaseException:
        sandbox.close()
        raise
    if card.result.verdict is Verdict.INVALID:
        sandbox.close()
    else:
        slots.give_back(sandbox, served + 1)
    return card
