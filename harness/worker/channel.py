"""Whole frames over a pair of file descriptors."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import wire

#: The host is trusted: this only keeps a broken frame from taking all memory.
REQUEST_CAP = 1 << 30
_CHUNK = 1 << 20


class Channel:
    """Reads frames from one descriptor and writes them to another; both block."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming = incoming
        self.outgoing = outgoing

    def receive(self, length: int) -> bytes:
        """Return exactly ``length`` bytes.

        Raises:
            EOFError: the other side has closed before that.
        """
        data = bytearray()
        while len(data) < length:
            chunk = os.read(self.incoming, min(length - len(data), _CHUNK))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)

    def read(self) -> tuple[dict[str, Any], memoryview]:
        """Return the header and payload of the host's next frame."""
        _, header, payload = wire.read(self.receive, REQUEST_CAP, wire.parse_own)
        return header, payload

    def send(self, frame: bytes) -> None:
        """Write all of ``frame``."""
        view = memoryview(frame)
        while view:
            view = view[os.write(self.outgoing, view[:_CHUNK]) :]

    def write(self, header: dict[str, Any], blobs: Iterable[bytes] = ()) -> None:
        """Send a header and its arrays as one frame."""
        self.send(wire.pack(header, blobs))
