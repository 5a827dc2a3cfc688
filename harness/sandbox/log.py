"""What a submission prints: the beginning and the end are kept, the rest is counted."""

from __future__ import annotations

from harness.sandbox.base import Limits
from harness.text import sanitise


class LogFull(Exception):
    """More was printed than one submission may print."""


class Log:
    """Collects printed bytes within the caps of ``Limits``."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: memoryview | bytes) -> None:
        """Take in what was printed.

        Raises:
            LogFull: it is more than ``log_bytes`` now; what is kept stays readable.
        """
        self.total += len(data)
        room = self._limits.log_head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(excess := self._tail) > 2 * self._limits.log_tail_bytes:
            del excess[: -self._limits.log_tail_bytes]
        if self.total > self._limits.log_bytes:
            raise LogFull

    def cut_at(self, mark: bytes) -> bool:
        """Cut the log off where ``mark`` ends it; return whether it does."""
        kept = self._head + self._tail
        if not kept.endswith(mark):
            return False
        self.total -= len(mark)
        in_tail = min(len(mark), len(self._tail))
        del self._tail[len(self._tail) - in_tail :]
        del self._head[len(self._head) - (len(mark) - in_tail) :]
        return True

    def text(self) -> str:
        """Return it as text that can be shown: control characters are spelled out."""
        tail = self._tail[-self._limits.log_tail_bytes :]
        missing = self.total - len(self._head) - len(tail)
        gap = f"\n… {missing:,} bytes left out …\n" if missing else ""
        head, end = (part.decode("utf-8", "backslashreplace") for part in (self._head, tail))
        shown = head + gap + end
        # A character can be spelled with up to ten.
        return sanitise(shown, 10 * len(shown) + 1)
