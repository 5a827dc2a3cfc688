"""Frames and printed output of a child process, read by threads: that works on every system."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
import time
from typing import IO

from harness.sandbox.log import Log, LogFull

_CHUNK = 1 << 16
#: Pieces that may wait to be read; a process that sends more waits in its own write.
_PIECES = 64


class Pipes:
    """The three standard streams of a child process."""

    def __init__(self, process: subprocess.Popen[bytes], log: Log) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._pieces: queue.Queue[bytes] = queue.Queue(_PIECES)
        self._unsent: queue.Queue[bytes | None] = queue.Queue()
        self._buffer = bytearray()
        self._log = log
        self._closed = threading.Event()
        self._ended = False
        self.flooded = False
        self._threads = [
            self._thread(self._write, process.stdin),
            self._thread(self._read, process.stdout),
            self._thread(self._collect, process.stderr),
        ]

    def _thread(self, work: object, stream: IO[bytes]) -> threading.Thread:
        # Daemons: a process that detached itself may keep a stream open for ever.
        thread = threading.Thread(target=work, args=(stream,), daemon=True)  # type: ignore[arg-type]
        thread.start()
        return thread

    def send(self, frame: bytes) -> None:
        """Write a frame; does not wait until it is read."""
        self._unsent.put(frame)

    def receive(self, length: int, until: float) -> bytes:
        """Return exactly ``length`` bytes.

        Raises:
            TimeoutError: ``until`` came first.
            EOFError: the stream has ended.
        """
        while len(self._buffer) < length:
            if self._ended:
                raise EOFError
            try:
                self._take(self._pieces.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                raise TimeoutError from None
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        return data

    def unasked(self) -> bool:
        """Tell whether there is output that no exchange asked for."""
        with contextlib.suppress(queue.Empty):
            self._take(self._pieces.get_nowait())
        return bool(self._buffer)

    def _take(self, piece: bytes) -> None:
        self._ended |= not piece
        self._buffer += piece

    def close(self, seconds: float) -> None:
        """Stop, after the process has ended; wait for what it printed last."""
        self._closed.set()
        self._unsent.put(None)
        with contextlib.suppress(queue.Empty):
            while True:
                self._pieces.get_nowait()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _write(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stream:
            while (frame := self._unsent.get()) is not None:
                stream.write(frame)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while not self._closed.is_set():
                piece = os.read(stream.fileno(), _CHUNK)
                self._pieces.put(piece)
                if not piece:
                    return

    def _collect(self, stream: IO[bytes]) -> None:
        with stream:
            while piece := os.read(stream.fileno(), _CHUNK):
                try:
                    self._log.add(piece)
                except LogFull:
                    self.flooded = True
                    return
