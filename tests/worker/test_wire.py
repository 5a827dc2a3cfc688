import contextlib
import json
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.worker import wire

CAP = 1 << 16


def reader(data: bytes):
    view = memoryview(data)

    def receive(length: int) -> bytes:
        nonlocal view
        if length > len(view):
            raise EOFError
        data, view = bytes(view[:length]), view[length:]
        return data

    return receive


def framed(text: bytes, payload: bytes = b"", magic: bytes = wire.WORKER) -> bytes:
    return struct.pack("<4sIQ", magic, len(text), len(payload)) + text + payload


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_a_wire_error(data):
    with contextlib.suppress(wire.WireError, EOFError):
        wire.read(reader(data), CAP)


@given(st.binary(max_size=200), st.binary(max_size=50))
@example(b"[" * 200, b"")
@example(b'{"a":1,"a":2}', b"")
@example(b'{"a":1e999}', b"")
@example(b'{"a":NaN}', b"")
@example(b'{"a":"\xed\xa0\x80"}', b"")
def test_any_header_is_an_object_or_a_wire_error(text, payload):
    try:
        _, header, rest = wire.read(reader(framed(text, payload)), CAP)
    except wire.WireError:
        return
    assert isinstance(header, dict)
    assert bytes(rest) == payload


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"id":"x","id":"y"}',
        b'{"x":1e999}',
        b'{"x":-Infinity}',
        b'{"x":' + b"9" * 5000 + b"}",
        b"null",
        b"\xff",
    ],
)
def test_a_header_that_json_parsers_disagree_on_is_a_wire_error(text):
    with pytest.raises(wire.WireError):
        wire.parse_header(text)


def test_a_length_is_compared_with_its_cap_before_anything_is_read():
    lengths = []

    def receive(length: int) -> bytes:
        lengths.append(length)
        return struct.pack("<4sIQ", wire.WORKER, 2, 1 << 62)

    with pytest.raises(wire.WireError):
        wire.read(receive, CAP)
    assert lengths == [wire.PREFIX.size]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=6,
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "k": st.just("array"),
        "dtype": st.sampled_from([*wire.DTYPES, "O", "V8", "f16"]) | values,
        "shape": st.lists(st.integers(-2, 4), max_size=10) | values,
    },
)


@given(st.lists(entries, max_size=3), st.binary(max_size=300))
@example([{"k": "array", "dtype": "f4", "shape": [1 << 32, 1 << 32]}], b"")
@example([{"k": "array", "dtype": "f4", "shape": [0, 1 << 62]}], b"")
@example([{"k": "array", "dtype": "f8", "shape": [0, 8]}], b"")
@example([{"k": "array", "dtype": "b1", "shape": [0]}], b"")
@example([{"k": "array", "dtype": "bf2", "shape": [0, 3]}], b"")
def test_any_description_of_a_payload_fits_it_exactly_or_is_a_wire_error(described, payload):
    try:
        arrays = wire.split_payload(described, memoryview(payload))
    except wire.WireError:
        return
    assert [list(array.shape) for array in arrays] == [entry["shape"] for entry in described]


@given(
    st.sampled_from(sorted(set(wire.DTYPES) - {"bf2"})),
    st.lists(st.integers(0, 3), max_size=4),
    st.randoms(use_true_random=False),
)
def test_every_array_that_may_cross_arrives_as_it_left(code, shape, random):
    dtype = wire.DTYPES[code]
    count = int(np.prod(shape))
    data = random.randbytes(count * dtype.itemsize)
    if code == "b1":
        data = bytes(byte & 1 for byte in data)
    array = np.frombuffer(data, dtype).reshape(shape) if count else np.zeros(shape, dtype)
    (arrived,) = wire.split_payload(
        [wire.describe_array(array)], memoryview(wire.array_bytes(array))
    )
    assert arrived.dtype == dtype
    assert arrived.tobytes() == array.tobytes()


def test_an_array_in_another_byte_order_or_layout_arrives_with_its_values():
    array = np.arange(12, dtype=">f4").reshape(3, 4)[::-1, ::2].T
    (arrived,) = wire.split_payload(
        [wire.describe_array(array)], memoryview(wire.array_bytes(array))
    )
    assert np.array_equal(arrived, array)


def test_bytes_that_are_no_truth_values_become_true():
    (arrived,) = wire.split_payload(
        [{"k": "array", "dtype": "b1", "shape": [3]}], memoryview(b"\x00\x01\x02")
    )
    assert arrived.tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", ["complex64", "O", "datetime64[s]", "U3", "V8", "f2,f4"])
def test_a_dtype_that_may_not_cross_has_no_code(dtype):
    assert wire.dtype_code(np.dtype(dtype)) == ""


def test_bfloat16_is_widened_exactly():
    bits = np.array([0x3F80, 0xC000, 0x7F80, 0x0001], np.uint16)
    wide = wire.bfloat16_to_float32(bits)
    assert wide[:3].tolist() == [1.0, -2.0, np.inf]
    assert wide[3] == np.float32(2.0**-133)


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8), max_size=5))
def test_a_header_arrives_as_it_left(header):
    magic, arrived, payload = wire.read(reader(wire.pack(header, [b"ab", b"c"])), CAP)
    assert (magic, arrived, bytes(payload)) == (wire.WORKER, json.loads(json.dumps(header)), b"abc")


def test_a_header_over_the_cap_is_never_sent():
    with pytest.raises(wire.WireError, match="at most"):
        wire.pack({"x": "y" * wire.HEADER_CAP})


@pytest.mark.slow
@settings(max_examples=100_000)
@given(st.integers(0, 60), st.binary(min_size=1, max_size=8))
def test_a_frame_of_which_some_bytes_are_changed_is_a_frame_or_a_wire_error(place, changed):
    whole = framed(b'{"id": "x", "answers": [{"form": "single"}]}', b"12345678")
    data = whole[:place] + changed + whole[place + len(changed) :]
    with contextlib.suppress(wire.WireError, EOFError):
        _, header, payload = wire.read(reader(data), CAP)
        assert isinstance(header, dict) and len(payload) <= CAP
