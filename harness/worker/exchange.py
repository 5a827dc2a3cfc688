"""One exchange with the process of a submission: what it may reply, and how it ended."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket

from . import processes, wire

_CHUNK = 1 << 20


class Ended(Exception):
    """The submission's process is over, in one of the words of the protocol."""

    def __init__(self, how: str, detail: str = "") -> None:
        self.how = how
        self.detail = detail
        super().__init__(how)


class Reply:
    """Gathers one frame of the submission's process, never reading past its end."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._data = bytearray(wire.PREFIX.size)
        self._filled = 0
        self._prefixed = False

    def read_from(self, end: socket.socket) -> bool:
        """Read what there is; return whether there was anything.

        Raises:
            Ended: these are not the first bytes of a frame that the protocol allows.
        """
        try:
            count = end.recv_into(memoryview(self._data)[self._filled :], 0, socket.MSG_DONTWAIT)
        except (BlockingIOError, ConnectionResetError):
            return False
        self._filled += count
        if self._filled == wire.PREFIX.size and not self._prefixed:
            self._prefixed = True
            self._data += bytes(self._length())
        return count > 0

    def _length(self) -> int:
        magic, header, payload = wire.PREFIX.unpack(self._data)
        if magic != wire.WORKER:
            raise Ended("protocol_violation", "its reply is not a frame")
        if header > wire.HEADER_CAP or payload > self._cap:
            raise Ended("protocol_violation", f"its reply announces {header} + {payload} bytes")
        return int(header + payload)

    @property
    def complete(self) -> bytearray | None:
        """The whole frame, or None while bytes are missing."""
        return self._data if self._prefixed and self._filled == len(self._data) else None


@dataclasses.dataclass(slots=True)
class Worker:
    """The process of one submission, and this side of the socket to it."""

    pid: int
    end: socket.socket
    oom_kills: int | None
    status: int | None = None

    def how_it_ended(self) -> Ended:
        """Tell a crash from a kill by the kernel."""
        status = self.status or 0
        if not os.WIFSIGNALED(status):
            return Ended("crashed", f"exit status {os.WEXITSTATUS(status)}")
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return Ended("out_of_resources", "processor time")
        kills = processes.oom_kills()
        if number == signal.SIGKILL and (kills is None or kills != self.oom_kills):
            return Ended("out_of_resources", "memory")
        return Ended("crashed", f"signal {number} ({signal.strsignal(number)})")


def send(end: socket.socket, data: memoryview) -> int:
    """Write what fits now; return how much that was."""
    try:
        return end.send(data[:_CHUNK], socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 0
    except (BrokenPipeError, ConnectionResetError):
        return len(data)  # it will be seen to have closed
