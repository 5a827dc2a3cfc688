"""The sandbox of written answers: it answers as any sandbox does, and nothing runs."""

import secrets

import pytest

from harness import answer_form
from harness.errors import CandidateCrashed, Refused
from harness.protocol import Call, decode, encode
from harness.sandbox.base import LIMITS
from harness.sandbox.choice import opener
from harness.sandbox.reading import ReadingSandbox
from harness.worker import wire


def start(sandbox, text):
    data = text.encode()
    header = {
        "op": "load",
        "id": secrets.token_hex(16),
        "seconds": 1.0,
        "arrays": "numpy",
        "origin": "text",
        "blocked": False,
        "entry": "form.md",
        "files": [{"name": "form.md", "size": len(data)}],
    }
    return sandbox.start(wire.pack(header, [data]), 1.0)


def ask(sandbox, question):
    entries, blobs = encode([Call(name="answer", arguments=(question,))])
    header = {"op": "run", "id": secrets.token_hex(16), "seconds": 1.0, "steps": entries}
    reply = sandbox.call(wire.pack(header, blobs), 1.0)
    assert reply.header["id"] == header["id"]
    (text,) = decode(reply.header, reply.payload, 1)[0].outs
    return answer_form.from_bytes(text.values)


@pytest.fixture
def sandbox():
    return ReadingSandbox()


def test_a_form_defines_one_function(sandbox):
    reply = start(sandbox, "**1 answer:** yes")
    assert [entry["name"] for entry in reply.header["names"]] == ["answer"]


def test_the_function_returns_what_stands_in_a_field(sandbox):
    start(sandbox, "**1 answer:** yes\n**2 W_Q:** [d_model, d_k]")
    assert ask(sandbox, "2 W_Q") == "[d_model, d_k]"


def test_an_answer_of_any_length_arrives_whole(sandbox):
    start(sandbox, f"**1 answer:** {'字' * 5000}")
    assert ask(sandbox, "1 answer") == "字" * 5000


def test_a_field_that_is_not_there_is_blank(sandbox):
    start(sandbox, "**1 answer:** yes")
    assert ask(sandbox, "3 answer") == ""


def test_code_in_an_answer_does_not_run(sandbox, tmp_path):
    trace = tmp_path / "trace"
    start(sandbox, f"**1 answer:** __import__('pathlib').Path({str(trace)!r}).touch()")
    assert ask(sandbox, "1 answer").startswith("__import__")
    assert not trace.exists()


def test_a_file_that_is_no_form_is_refused(sandbox):
    with pytest.raises(Refused):
        start(sandbox, "no form")


def test_nothing_answers_before_a_form_is_read_and_after_it_is_put_away(sandbox):
    with pytest.raises(CandidateCrashed):
        ask(sandbox, "1 answer")
    start(sandbox, "**1 answer:** yes")
    assert sandbox.log() == ""
    with pytest.raises(CandidateCrashed):
        ask(sandbox, "1 answer")


@pytest.mark.parametrize("kind", ["container", "process"])
def test_written_answers_need_no_engine_whatever_sandbox_is_asked_for(kind):
    open_sandbox = opener(kind, "text", runtime=None, report=print)
    assert isinstance(open_sandbox(), ReadingSandbox)
    assert open_sandbox().environment.isolated


def test_written_answers_have_limits_like_every_image():
    assert "text" in LIMITS
