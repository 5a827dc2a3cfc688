"""The frames that cross the wall: a strict JSON header and raw little-endian arrays.

A frame is ``magic (4) | u32 header length | u64 payload length | header | payload``, integers
little-endian. The header is a JSON object; the payload is the concatenation, in header order,
of the arrays' bytes in C order. Nothing here unpickles, evaluates, or trusts a length before
it has compared it with a cap. Everything that is malformed raises ``WireError`` and nothing else.

Used on both sides, so it imports the standard library and numpy only.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

#: A frame written by the host, or by the candidate's process.
WORKER = b"TH1\n"
#: A frame in the supervisor's own words: how the candidate's process ended.
SUPERVISOR = b"TH1!"

PREFIX = struct.Struct("<4sIQ")
HEADER_CAP = 1 << 16
DIMENSIONS_CAP = 8
_ELEMENTS_CAP = 1 << 48

#: Wire code -> numpy dtype. bfloat16 ("bf2") travels as its raw 16 bits.
DTYPES: dict[str, np.dtype[Any]] = {
    "f2": np.dtype("<f2"),
    "f4": np.dtype("<f4"),
    "f8": np.dtype("<f8"),
    "bf2": np.dtype("<u2"),
    "i1": np.dtype("i1"),
    "i2": np.dtype("<i2"),
    "i4": np.dtype("<i4"),
    "i8": np.dtype("<i8"),
    "u1": np.dtype("u1"),
    "b1": np.dtype("?"),
}
#: The other way round; bfloat16 is no dtype of numpy's.
_CODES = {dtype: code for code, dtype in DTYPES.items() if code != "bf2"}


class WireError(ValueError):
    """The bytes are not a frame of this protocol."""


def pack(header: dict[str, Any], blobs: Iterable[bytes] = (), magic: bytes = WORKER) -> bytes:
    """Build one frame."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > HEADER_CAP:
        raise WireError(f"header is {len(text)} bytes, expected at most {HEADER_CAP}")
    payload = b"".join(blobs)
    return PREFIX.pack(magic, len(text), len(payload)) + text + payload


def log_mark(identifier: str) -> bytes:
    """Return what the supervisor prints after everything that a submission printed.

    It is printed before the reply to ``end``, whose id no submission has seen.
    """
    return b"\0end " + identifier.encode() + b"\0"


def read(
    receive: Callable[[int], bytes],
    payload_cap: int,
    parse: Callable[[bytes], dict[str, Any]] | None = None,
) -> tuple[bytes, dict[str, Any], memoryview]:
    """Read one frame with ``receive(n)``, which returns exactly n bytes or raises.

    Returns the magic, the header, as ``parse`` or ``parse_header`` reads it, and the payload.
    Lengths are compared with their caps before anything of that length is read.
    """
    magic, header_length, payload_length = PREFIX.unpack(receive(PREFIX.size))
    if magic not in (WORKER, SUPERVISOR):
        raise WireError(f"frame begins with {magic!r}, expected {WORKER!r}")
    if header_length > HEADER_CAP:
        raise WireError(f"header is {header_length} bytes, expected at most {HEADER_CAP}")
    if payload_length > payload_cap:
        raise WireError(f"payload is {payload_length} bytes, expected at most {payload_cap}")
    header = (parse or parse_header)(receive(header_length))
    return magic, header, memoryview(receive(payload_length))


def parse_header(text: bytes) -> dict[str, Any]:
    """Parse a header strictly: an object, no duplicate keys, no NaN, no deep nesting."""
    try:
        header = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constants,
            parse_float=_finite_float,
        )
    except WireError:
        raise
    except (ValueError, RecursionError) as error:
        raise WireError(f"header is not strict JSON: {type(error).__name__}") from None
    if not isinstance(header, dict):
        raise WireError(f"header is a {type(header).__name__}, expected an object")
    return header


def parse_own(text: bytes) -> dict[str, Any]:
    """Parse a header that the host has written: nothing of it needs to be refused."""
    header: dict[str, Any] = json.loads(text)
    return header


def _unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    header = dict(pairs)
    if len(header) != len(pairs):
        raise WireError("header repeats a key")
    return header


def _no_constants(name: str) -> Any:
    raise WireError(f"header contains {name}")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise WireError("header contains a number that is not finite")
    return value


def describe_array(array: np.ndarray[Any, Any], code: str = "") -> dict[str, Any]:
    """Return the header entry of an array; ``code`` names a dtype numpy does not have."""
    code = code or dtype_code(array.dtype)
    return {"k": "array", "dtype": code, "shape": list(array.shape)}


def dtype_code(dtype: np.dtype[Any]) -> str:
    """Return the wire code of a numpy dtype, or "" when it may not cross the wall."""
    return _CODES.get(dtype) or _CODES.get(dtype.newbyteorder("<"), "")


def array_bytes(array: np.ndarray[Any, Any]) -> bytes:
    """Return an array's elements as little-endian bytes in C order."""
    if array.dtype not in _CODES:
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes()


def array_size(entry: dict[str, Any]) -> int:
    """Return how many payload bytes an array's header entry announces."""
    dtype, shape = entry.get("dtype"), entry.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise WireError(f"array has dtype {str(dtype)[:20]!r}, expected one of {sorted(DTYPES)}")
    if not isinstance(shape, list) or len(shape) > DIMENSIONS_CAP:
        raise WireError(f"array shape is not a list of at most {DIMENSIONS_CAP} lengths")
    count = extent = 1  # even an empty array may not have a length that numpy cannot hold
    for length in shape:
        if type(length) is not int or length < 0:
            raise WireError("array shape holds something other than a length")
        count *= length
        extent *= length or 1
    if extent > _ELEMENTS_CAP:
        raise WireError("array shape is too large")
    return count * DTYPES[dtype].itemsize


def array_from(entry: dict[str, Any], payload: memoryview) -> np.ndarray[Any, Any]:
    """Build the array of a header entry from exactly its bytes; bfloat16 becomes float32."""
    dtype = DTYPES[entry["dtype"]]
    array = np.frombuffer(payload, dtype).reshape(entry["shape"])
    if entry["dtype"] == "bf2":
        return bfloat16_to_float32(array)
    if entry["dtype"] == "b1":
        # A byte other than 0 and 1 would be a bool that equals neither.
        truth: np.ndarray[Any, Any] = np.frombuffer(payload, np.uint8).reshape(entry["shape"]) != 0
        return truth
    return array.copy()


def bfloat16_to_float32(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Widen raw bfloat16 bits; exact, since bfloat16 is the upper half of a float32."""
    wide: np.ndarray[Any, Any] = (bits.astype(np.uint32) << 16).view(np.float32)
    return wide


def split_payload(
    entries: Iterable[dict[str, Any]], payload: memoryview
) -> list[np.ndarray[Any, Any]]:
    """Cut a payload into the arrays that ``entries`` announce, in order; it must fit exactly."""
    arrays, offset = [], 0
    for entry in entries:
        size = array_size(entry)
        if offset + size > len(payload):
            raise WireError(f"payload is {len(payload)} bytes, shorter than its header announces")
        arrays.append(array_from(entry, payload[offset : offset + size]))
        offset += size
    if offset != len(payload):
        raise WireError(f"payload is {len(payload)} bytes, expected {offset}")
    return arrays
