"""Functions of a notebook as a session: called in this process, and interrupted where they hang."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

from harness.candidate.session import DirectSession
from harness.errors import CandidateTimedOut, SubmissionEnded
from harness.protocol import Answer, Step
from harness.sandbox import Limits

#: Code that goes on when it is interrupted is interrupted again and again, and then left alone.
_AGAIN_SECONDS: Final = 0.05
_INTERRUPTIONS: Final = 20

#: A thread that waits for another does not hear Ctrl-C on Windows.
_LOOK_SECONDS: Final = 0.1

T = TypeVar("T")


class _Interruption(BaseException):
    """Raised inside code that takes too long; ``except Exception`` does not catch it."""


class LiveSession:
    """Answers steps by calling functions in threads of this process, each frame within a deadline.

    A loop of Python ends at its next instruction, on every system. Compiled code cannot be
    interrupted: its thread is left behind, and ends when the code returns.
    """

    memory_noise = DirectSession.memory_noise

    def __init__(self, functions: Mapping[str, Any], *, arrays: str, limits: Limits) -> None:
        self._session = DirectSession(functions, arrays=arrays)
        self._limits = limits
        self._timeouts = 0

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Run the steps and return one answer for each.

        Raises:
            CandidateTimedOut: they did not end in time.
            SubmissionEnded: so many frames did not end that no more is tried.
        """
        return self._within_deadline(lambda: self._session.exchange(steps))

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Run the steps, the second one counting allocations; raises what ``exchange`` does."""
        return self._within_deadline(lambda: self._session.measure(warm_up, step))

    def _within_deadline(self, run: Callable[[], T]) -> T:
        if self._timeouts >= self._limits.timeouts:
            raise SubmissionEnded(f"not run: it had timed out {self._timeouts} times")
        seconds = self._limits.exchange_seconds
        future: Future[T] = Future()
        thread = threading.Thread(target=_settle, args=(future, run), daemon=True)
        thread.start()
        try:
            overdue = not _is_done(future, seconds)
        finally:  # also when somebody interrupts the cell
            _interrupt(thread, future)
        if overdue:
            self._timeouts += 1
            raise CandidateTimedOut(f"it did not answer within {seconds:g} s")
        return future.result()


def _is_done(future: Future[T], seconds: float) -> bool:
    """Wait until a call is done, but not for longer; tell whether it is."""
    # Not Thread.join(): interrupted, it takes a thread that runs for one that has ended.
    deadline = time.monotonic() + seconds
    while not future.done() and (left := deadline - time.monotonic()) > 0:
        wait([future], min(left, _LOOK_SECONDS))
    return future.done()


def _settle(future: Future[T], run: Callable[[], T]) -> None:
    try:
        future.set_result(run())
    except BaseException as error:
        future.set_exception(error)


def _interrupt(thread: threading.Thread, future: Future[T]) -> None:
    """Raise `_Interruption` in a thread until its call is done, or does not listen."""
    for _ in range(_INTERRUPTIONS):
        if future.done():
            thread.join()
            return
        # https://docs.python.org/3/c-api/init.html#c.PyThreadState_SetAsyncExc
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Interruption)
        )
        wait([future], _AGAIN_SECONDS)
