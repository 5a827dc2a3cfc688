"""The two output streams of a container, and its input, over one attached socket.

The engine multiplexes: every piece is preceded by ``stream (1) | 0 0 0 | u32 length``, big-endian.
Standard output holds frames; standard error is the log and is never parsed. One thread does
everything: while it writes or waits for a reply it also takes in what is printed, so a flood can
block nothing. Between exchanges nobody reads, and the submission waits in its own ``print``.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time

from harness.errors import ProtocolViolation, SandboxBroken
from harness.sandbox.log import Log

_PIECE = struct.Struct(">BxxxL")
_STDOUT, _STDERR = 1, 2
_CHUNK = 1 << 16


class Stream:
    """Reads and writes an attached socket under absolute deadlines (``time.monotonic``)."""

    def __init__(self, attached: socket.socket, log: Log, reply_cap: int) -> None:
        attached.setblocking(False)
        self._socket = attached
        self.log = log
        self._reply_cap = reply_cap
        self._frames = bytearray()
        self._prefix = bytearray()
        self._piece = 0  #: the stream of the current piece
        self._left = 0  #: bytes of it that are still to come

    def send(self, frame: bytes, until: float) -> None:
        """Write a frame.

        Raises:
            TimeoutError: ``until`` came first.
            EOFError: the container is gone.
            LogFull, ProtocolViolation: it printed or replied too much meanwhile.
        """
        view = memoryview(frame)
        while view:
            if self._wait(select.POLLIN | select.POLLOUT, until) & select.POLLOUT:
                try:
                    view = view[self._socket.send(view[:_CHUNK]) :]
                except BlockingIOError:
                    pass
                except OSError as error:
                    raise EOFError from error

    def receive(self, length: int, until: float) -> bytes:
        """Return exactly ``length`` bytes of standard output; raises as ``send`` does."""
        while len(self._frames) < length:
            self._wait(select.POLLIN, until)
        with memoryview(self._frames) as frames:  # a slice of the array would be a second copy
            data = bytes(frames[:length])
        del self._frames[:length]
        return data

    def unasked(self) -> bool:
        """Tell whether there is output that no exchange asked for."""
        self.drain(time.monotonic())
        return bool(self._frames)

    def drain(self, until: float, mark: bytes = b"") -> None:
        """Take in what is printed until there is no more of it, or it ends with ``mark``."""
        while not (mark and self.log.cut_at(mark)):
            try:
                self._wait(select.POLLIN, until)
            except (TimeoutError, EOFError):
                return

    def close(self) -> None:
        """Let go of the socket; this is also how the container learns that nobody listens."""
        with contextlib.suppress(OSError):  # the engine may have closed it first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _wait(self, events: int, until: float) -> int:
        """Wait until the socket is ready, and take in what it has."""
        poll = select.poll()
        poll.register(self._socket, events)
        remaining = until - time.monotonic()
        ready = poll.poll(max(0.0, remaining) * 1000)
        if not ready:
            raise TimeoutError
        heard = ready[0][1]
        if heard & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._take_in()
        return heard

    def _take_in(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        view = memoryview(data)
        while view:
            view = self._take_piece(view) if self._left else self._take_prefix(view)

    def _take_prefix(self, view: memoryview) -> memoryview:
        missing = _PIECE.size - len(self._prefix)
        self._prefix += view[:missing]
        if len(self._prefix) == _PIECE.size:
            self._piece, self._left = _PIECE.unpack(self._prefix)
            if self._piece not in (_STDOUT, _STDERR) or any(self._prefix[1:4]):
                raise SandboxBroken(f"the engine sent a piece of stream {self._piece}")
            self._prefix.clear()
        return view[missing:]

    def _take_piece(self, view: memoryview) -> memoryview:
        piece, rest = view[: self._left], view[self._left :]
        self._left -= len(piece)
        if self._piece == _STDERR:
            self.log.add(piece)
        else:
            self._frames += piece
            if len(self._frames) > self._reply_cap + _CHUNK:
                raise ProtocolViolation("it sent more than a reply may hold")
        return rest
