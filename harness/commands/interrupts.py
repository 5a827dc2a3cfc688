"""What ends a run from outside: Ctrl-C once or twice, and the signals of a system that ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self


class Interrupts:
    """Within it, one Ctrl-C asks to finish, and a second one or SIGTERM or SIGHUP ends at once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._asked = False
        self._restore = contextlib.ExitStack()

    def stopping(self) -> bool:
        """Whether no further submission is to be begun."""
        return self._asked

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._handle("SIGINT", self._ask)
            self._handle("SIGTERM", _end)
            self._handle("SIGHUP", _end)
        return self

    def __exit__(self, *raised: object) -> None:
        self._restore.close()

    def _handle(self, name: str, handler: Callable[[int, FrameType | None], None]) -> None:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is None or signal.getsignal(number) is signal.SIG_IGN:  # as nohup asks
            return
        self._restore.callback(signal.signal, number, signal.signal(number, handler))

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        self._say("interrupted: what runs is finished; interrupt again to stop at once")


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
