"""What the host sends does not depend on whether the answers so far were right."""

from __future__ import annotations

import struct
from typing import Any

from harness.candidate.checks import run_checks
from harness.sandbox.base import Frame
from tests import toy


class Recording(toy.FakeSandbox):
    """Keeps every frame that it gets, but for the id, which is of chance."""

    def __init__(self, **functions: object) -> None:
        super().__init__(functions=toy.right() | functions)
        self.transcript: list[bytes] = []

    def call(self, frame: bytes, seconds: float) -> Frame:
        header, _ = toy.read(frame)
        self.transcript.append(frame.replace(header["id"].encode(), b""))
        return super().call(frame, seconds)


def transcript(**functions: object) -> list[bytes]:
    sandbox = Recording(**functions)
    run_checks(toy.SPEC, toy.session(sandbox), "7")
    return sandbox.transcript


def test_a_wrong_answer_is_asked_the_same_as_a_right_one() -> None:
    right = transcript()
    assert len(right) > 1
    assert transcript(double=lambda x: x * 3) == right
    assert transcript(total=lambda x: 0.0) == right


def test_no_expected_value_is_sent() -> None:
    expected: list[Any] = []

    def double(x: Any) -> Any:
        expected.append(x * 2)
        return x * 2

    sent = b"".join(transcript(double=double))
    values = [value for array in expected for value in array.ravel()]
    assert values
    assert not any(struct.pack("<d", value) in sent for value in values)
