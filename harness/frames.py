"""The host's own way to write and read the headers of frames: as strict as the worker's, in C.

``harness.worker.wire`` says what a frame is; it has the standard library only, and its parser
calls back into Python for every object, to see a key that is repeated. Here msgspec parses, and
a header is taken if encoding it again gives the very same bytes: nothing can be repeated then,
left out, or read in two ways. Any other header is left to the parser of ``wire``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from harness.worker import wire


class _Asked(msgspec.Struct):
    id: str


_DECODER = msgspec.json.Decoder()
_ASKED = msgspec.json.Decoder(_Asked)
_ENCODER = msgspec.json.Encoder()


def pack(header: dict[str, Any], blobs: Iterable[bytes] = ()) -> bytes:
    """Build one frame of the host; every number that is not finite is spelled already.

    Raises:
        WireError: the header is longer than its cap.
    """
    text = _ENCODER.encode(header)
    if len(text) > wire.HEADER_CAP:
        raise wire.WireError(f"header is {len(text)} bytes, expected at most {wire.HEADER_CAP}")
    payload = b"".join(blobs)
    return b"".join((wire.PREFIX.pack(wire.WORKER, len(text), len(payload)), text, payload))


def request_id(frame: bytes) -> str:
    """Return the id that the reply to one of our own frames has to repeat."""
    start = wire.PREFIX.size
    _, length, _ = wire.PREFIX.unpack_from(frame)
    return _ASKED.decode(memoryview(frame)[start : start + length]).id


def parse_header(text: bytes) -> dict[str, Any]:
    """Parse a header as `wire.parse_header` does.

    Raises:
        WireError: it is not strict JSON, or no object.
    """
    try:
        header = _DECODER.decode(text)
        if isinstance(header, dict) and _ENCODER.encode(header) == text:
            return header
    except (ValueError, RecursionError):  # what msgspec raises is a ValueError
        pass
    return wire.parse_header(text)
