import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness import frames
from harness.worker import wire

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=8,
)


def outcome(parse, text):
    try:
        return repr(parse(text))
    except wire.WireError as error:
        return str(error)


@given(st.dictionaries(st.text(), JSON), st.booleans(), st.sampled_from([None, (",", ":")]))
def test_any_header_is_read_as_the_worker_would(header, ascii, separators):
    text = json.dumps(header, ensure_ascii=ascii, separators=separators)
    text = text.encode("utf-8", "surrogatepass")
    assert outcome(frames.parse_header, text) == outcome(wire.parse_header, text)


@given(st.text(alphabet='{}[]":,0123456789eE.+-aN truefalsn\\u', max_size=40))
@example('{"a":1,"a":1}')
@example('{"a":{"b":1,"b":2}}')
@example('{"a":NaN}')
@example('{"a":-0}')
@example('{"a":1e999}')
@example('{"a":123456789012345678901234567890}')
@example('{"a":0.1000000000000000055511151231257827}')
@example("[1]")
@example('{"a":' * 5000 + "1" + "}" * 5000)
def test_any_text_is_read_or_refused_as_the_worker_would(text):
    assert outcome(frames.parse_header, text.encode()) == outcome(wire.parse_header, text.encode())


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_as_the_worker_would(data):
    assert outcome(frames.parse_header, data) == outcome(wire.parse_header, data)


@pytest.mark.parametrize("repeated", ['{"id":"a","id":"b"}', '{"x":{"k":1,"k":1}}'])
def test_a_key_that_is_repeated_is_refused(repeated):
    with pytest.raises(wire.WireError, match="repeats a key"):
        frames.parse_header(repeated.encode())


def test_a_frame_is_what_the_worker_reads():
    header = {"op": "run", "id": "é", "seconds": 0.1, "steps": [{"v": 1e-7}]}
    frame = frames.pack(header, [b"ab", b"c"])
    data = memoryview(frame)
    places = iter((0, 16, len(frame) - 3))

    def receive(length):
        start = next(places)
        return bytes(data[start : start + length])

    assert wire.read(receive, 3) == (wire.WORKER, header, memoryview(b"abc"))
    assert frames.request_id(frame) == "é"


def test_a_header_over_the_cap_is_never_sent():
    with pytest.raises(wire.WireError, match="at most"):
        frames.pack({"a": "x" * wire.HEADER_CAP})
