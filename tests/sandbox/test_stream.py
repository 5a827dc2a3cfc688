import socket
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ProtocolViolation, SandboxBroken
from harness.sandbox.base import Limits
from harness.sandbox.container.stream import Stream
from harness.sandbox.log import Log, LogFull

CAP = 1 << 17


def piece(number: int, data: bytes) -> bytes:
    return struct.pack(">BxxxL", number, len(data)) + data


@pytest.fixture
def attached():
    ours, engine = socket.socketpair()
    stream = Stream(ours, Log(Limits(log_bytes=1 << 20)), CAP)
    yield stream, engine
    stream.close()
    engine.close()


def soon() -> float:
    return time.monotonic() + 2


def test_the_two_streams_are_kept_apart(attached):
    stream, engine = attached
    engine.send(piece(1, b"fra") + piece(2, piece(1, b"fake")) + piece(1, b"me"))
    assert stream.receive(5, soon()) == b"frame"
    assert "fake" in stream.log.text()


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=30)), max_size=12), st.data())
def test_pieces_may_be_cut_anywhere(pieces, data):
    ours, engine = socket.socketpair()
    with ours, engine:
        stream = Stream(ours, Log(Limits()), CAP)
        sent = b"".join(piece(number, content) for number, content in pieces)
        while sent:
            cut = data.draw(st.integers(1, len(sent)))
            engine.send(sent[:cut])
            sent = sent[cut:]
            stream.drain(time.monotonic())
        expected = b"".join(content for number, content in pieces if number == 1)
        assert stream.receive(len(expected), soon()) == expected
        assert stream.log.total == sum(len(content) for number, content in pieces if number == 2)


@pytest.mark.parametrize("prefix", [b"\x03\0\0\0\0\0\0\1x", b"\x01\0\1\0\0\0\0\1x", b"HTTP/1.1"])
def test_what_is_no_piece_is_the_engines_fault(attached, prefix):
    stream, engine = attached
    engine.send(prefix)
    with pytest.raises(SandboxBroken):
        stream.receive(1, soon())


def test_waiting_ends_at_the_deadline(attached):
    stream, engine = attached
    engine.send(piece(1, b"some"))
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        stream.receive(5, began + 0.1)
    assert time.monotonic() - began < 1


def test_an_engine_that_hangs_up_is_the_end(attached):
    stream, engine = attached
    engine.close()
    with pytest.raises(EOFError):
        stream.receive(1, soon())
    with pytest.raises(EOFError):
        stream.send(b"x" * (1 << 22), soon())


def test_sending_to_one_who_does_not_read_ends_at_the_deadline(attached):
    stream, _ = attached
    with pytest.raises(TimeoutError):
        stream.send(b"x" * (1 << 24), time.monotonic() + 0.2)


def test_bytes_between_exchanges_are_seen(attached):
    stream, engine = attached
    assert not stream.unasked()
    engine.send(piece(2, b"print"))
    assert not stream.unasked()
    engine.send(piece(1, b"x"))
    assert stream.unasked()


def test_more_than_a_reply_may_hold_is_a_violation(attached):
    stream, engine = attached
    engine.setblocking(False)
    with pytest.raises(ProtocolViolation):
        for _ in range(100):
            engine.send(piece(1, b"x" * 60_000))
            stream.drain(time.monotonic())


def test_a_flood_of_printing_is_stopped(attached):
    stream, engine = attached
    engine.setblocking(False)
    with pytest.raises(LogFull):
        for _ in range(100):
            engine.send(piece(2, b"x" * 60_000))
            stream.drain(time.monotonic())
