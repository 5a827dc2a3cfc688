import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox.base import Limits
from harness.sandbox.log import Log, LogFull

LIMITS = Limits(log_bytes=10_000, log_head_bytes=100, log_tail_bytes=50)


def test_a_short_log_is_kept_as_it_is():
    log = Log(LIMITS)
    log.add(b"one\n")
    log.add(b"two\n")
    assert log.text() == "one\ntwo\n"


@given(st.lists(st.integers(1, 400), min_size=1, max_size=15))
def test_of_a_long_log_the_beginning_and_the_end_are_kept(sizes):
    log, printed = Log(LIMITS), b""
    for place, size in enumerate(sizes):
        piece = bytes([97 + place]) * size
        printed += piece
        log.add(piece)
    if len(printed) <= 150:
        assert log.text() == printed.decode()
    else:
        assert log.text().startswith(printed[:100].decode())
        assert log.text().endswith(printed[-50:].decode())
        assert f"{len(printed) - 150:,} bytes left out" in log.text()


def test_a_log_over_its_cap_is_full_and_stays_readable():
    log = Log(LIMITS)
    with pytest.raises(LogFull):
        log.add(b"x" * 10_001)
    assert "left out" in log.text()


@pytest.mark.parametrize("before", [0, 5, 95, 99, 100, 105, 140, 300])
def test_a_mark_is_cut_off_wherever_it_fell(before):
    log = Log(LIMITS)
    log.add(b"x" * before)
    for byte in b"<mark>":
        assert not log.cut_at(b"<mark>")
        log.add(bytes([byte]))
    assert log.cut_at(b"<mark>")
    assert "<" not in log.text() and log.total == before


def test_bytes_that_are_no_text_are_spelled_out():
    log = Log(LIMITS)
    log.add(b"\xff\x1b[0m\x00")
    assert log.text() == "\\xff<U+001B>[0m<U+0000>"
