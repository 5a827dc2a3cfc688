import dataclasses
import math

import numpy as np
import pytest

from harness.errors import (
    CandidateCrashed,
    CandidateRaised,
    CandidateTimedOut,
    NotMeasured,
    OutOfResources,
    ProtocolViolation,
    SandboxBroken,
    SubmissionEnded,
)
from harness.protocol import Call, Tensor
from harness.sandbox.base import Limits, Memory
from tests import toy
from tests.toy import Clock, FakeSandbox

CALL = Call(name="double", arguments=(np.arange(3.0),))
LIMITS = Limits(import_seconds=20, exchange_seconds=5, submission_seconds=60, timeouts=3)


def session(sandbox, clock=None, **limits):
    return toy.session(sandbox, clock, dataclasses.replace(LIMITS, **limits))


def doubled(session):
    (answer,) = session.exchange([CALL])
    assert isinstance(answer.outs[0], Tensor)
    return answer.outs[0].values.tolist()


def test_the_first_exchange_loads_the_submission_and_later_ones_do_not():
    sandbox = FakeSandbox()
    one = session(sandbox)
    assert doubled(one) == doubled(one) == [0, 2, 4]
    assert [frame["op"] for frame in sandbox.frames] == ["load", "run", "run"]
    assert one.exchanges == 3


def test_the_files_and_how_to_load_them_are_sent():
    sandbox = FakeSandbox()
    session(sandbox).load()
    (frame,) = sandbox.frames
    assert frame["entry"] == "answer.py"
    assert frame["files"] == [{"name": "answer.py", "size": len(toy.RIGHT.encode())}]
    assert (frame["arrays"], frame["origin"], frame["blocked"]) == ("numpy", "script", False)
    assert (frame["seconds"], sandbox.seconds) == (20, [20])


def test_every_frame_has_an_id_of_its_own_that_cannot_be_guessed():
    sandbox = FakeSandbox()
    one = session(sandbox)
    for _ in range(3):
        one.exchange([CALL])
    ids = {frame["id"] for frame in sandbox.frames}
    assert len(ids) == 4
    assert {len(identifier) for identifier in ids} == {32}


def test_what_was_loaded_is_reported():
    def loaded(header):
        return {
            "loaded": "definitions",
            "reason": "line 3 raised\x1b",
            "inert": ["matplotlib", "tqdm"],
            "names": [
                {"name": "double", "kind": "function", "parameters": [{"name": "x"}, {}, 7]},
                {"name": 7},
                "no entry",
            ],
        }

    report = session(FakeSandbox([loaded])).load()
    assert report.names == {"double"}
    assert report.definitions[0].parameters == ("x",)
    assert report.notes == (
        "Only its definitions were loaded, because line 3 raised<U+001B>",
        "Not available here and replaced by stand-ins: matplotlib, tqdm",
    )


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"names": 7, "inert": {}, "loaded": []},
        {"names": [[], {"name": []}, {"name": "f", "parameters": "x"}]},
        {"inert": [[], {}, "\u202e" * 9999]},
        {"loaded": "definitions", "reason": ["x"] * 500},
    ],
)
def test_a_report_of_nonsense_is_a_report_of_little(reply):
    report = session(FakeSandbox([lambda header: reply])).load()
    assert report.names <= {"f"}
    assert all(len(note) < 500 and note.isprintable() for note in report.notes)


def test_a_report_names_no_more_than_anyone_reads():
    names = [{"name": f"f{n}"} for n in range(5000)]
    assert len(session(FakeSandbox([lambda header: {"names": names}])).load().names) == 200


def test_a_submission_that_does_not_load_raises_the_same_at_every_exchange():
    raised = {"raised": {"type": "SyntaxError", "message": "invalid syntax", "line": 3}}
    sandbox = FakeSandbox([lambda header: raised])
    one = session(sandbox)
    for _ in range(3):
        with pytest.raises(CandidateRaised, match=r"SyntaxError: invalid syntax \(line 3\)"):
            one.exchange([CALL])
    assert sandbox.starts == 1


def test_an_import_that_never_ends_is_waited_for_once():
    sandbox = FakeSandbox([CandidateTimedOut("late")])
    one = session(sandbox)
    for _ in range(5):
        with pytest.raises(CandidateTimedOut):
            one.exchange([CALL])
    assert sandbox.starts == 1


@pytest.mark.parametrize(
    "error", [CandidateTimedOut("late"), CandidateCrashed("signal 11"), OutOfResources("memory")]
)
def test_after_a_timeout_a_crash_or_a_kill_the_submission_is_loaded_again(error):
    sandbox = FakeSandbox([None, error])
    one = session(sandbox)
    with pytest.raises(type(error)):
        one.exchange([CALL])
    assert doubled(one) == [0, 2, 4]
    assert [frame["op"] for frame in sandbox.frames] == ["load", "run", "load", "run"]


@pytest.mark.parametrize(
    "errors",
    [
        [CandidateTimedOut("late")] * 3,
        [OutOfResources("memory")] * 3,
        [CandidateTimedOut("late"), OutOfResources("memory"), CandidateTimedOut("late")],
        [CandidateTimedOut("late"), OutOfResources("memory"), OutOfResources("memory")],
    ],
)
def test_three_timeouts_or_kills_end_the_submission(errors):
    sandbox = FakeSandbox([step for error in errors for step in (None, error)])
    one = session(sandbox)
    for error in errors:
        with pytest.raises(type(error)):
            one.exchange([CALL])
    sent = len(sandbox.frames)
    for _ in range(2):
        with pytest.raises(SubmissionEnded, match="timed out or run out of resources 3 times"):
            one.exchange([CALL])
    assert len(sandbox.frames) == sent


def test_crashes_do_not_end_the_submission():
    sandbox = FakeSandbox([None, CandidateCrashed("signal 11")] * 5)
    one = session(sandbox)
    for _ in range(5):
        with pytest.raises(CandidateCrashed):
            one.exchange([CALL])
    assert doubled(one) == [0, 2, 4]


@pytest.mark.parametrize(
    "happening",
    [
        pytest.param(ProtocolViolation("garbage"), id="the sandbox says so"),
        pytest.param(lambda header: {"id": "0" * 32, "answers": [{}]}, id="another id"),
        pytest.param(lambda header: {"id": None}, id="no id"),
        pytest.param(lambda header: {}, id="no answers"),
        pytest.param(lambda header: {"answers": [{}, {}]}, id="an answer too many"),
        pytest.param(lambda header: {"passed": True, "answers": []}, id="a verdict"),
    ],
)
def test_what_breaks_the_protocol_ends_the_submission(happening):
    sandbox = FakeSandbox([None, happening])
    one = session(sandbox)
    with pytest.raises(ProtocolViolation):
        one.exchange([CALL])
    with pytest.raises(SubmissionEnded, match="not run: it broke the protocol"):
        one.exchange([CALL])
    assert len(sandbox.frames) == 2


@pytest.mark.parametrize("reply", [{"id": "0" * 32}, {"raised": "SyntaxError"}])
def test_an_import_that_breaks_the_protocol_ends_the_submission(reply):
    sandbox = FakeSandbox([lambda header: reply])
    one = session(sandbox)
    for _ in range(2):
        with pytest.raises(ProtocolViolation):
            one.exchange([CALL])
    assert len(sandbox.frames) == 1


def test_no_exchange_may_take_longer_than_what_the_submission_has_left():
    clock = Clock()
    sandbox = FakeSandbox()
    one = session(sandbox, clock)
    one.load()
    clock.now = 57.0
    one.exchange([CALL])
    assert sandbox.seconds == [20, 3]


def test_a_submission_whose_time_is_spent_is_not_run():
    clock = Clock()
    sandbox = FakeSandbox()
    one = session(sandbox, clock)
    one.load()
    clock.now = 60.0
    for _ in range(2):
        with pytest.raises(SubmissionEnded, match="not run: its 60 s were spent"):
            one.exchange([CALL])
    assert len(sandbox.frames) == 1


def test_a_reload_takes_its_time_from_the_submission():
    clock = Clock()
    sandbox = FakeSandbox([None, CandidateCrashed("signal 11")])
    one = session(sandbox, clock)
    with pytest.raises(CandidateCrashed):
        one.exchange([CALL])
    clock.now = 61.0
    with pytest.raises(SubmissionEnded):
        one.exchange([CALL])
    assert sandbox.starts == 1


def test_a_broken_sandbox_is_not_the_submission_s_fault_and_not_counted():
    sandbox = FakeSandbox([None, SandboxBroken("engine gone")])
    one = session(sandbox)
    with pytest.raises(SandboxBroken):
        one.exchange([CALL])


class Measured(FakeSandbox):
    readings = iter(())

    def memory(self):
        return next(self.readings)


def test_memory_is_how_far_the_peak_rose_above_what_was_there_before():
    sandbox = Measured()
    sandbox.readings = iter([Memory(now=100, peak=500), Memory(now=120, peak=350)])
    answer, risen = session(sandbox).measure(CALL, CALL)
    assert answer.outs[0].values.tolist() == [0, 2, 4]
    assert risen == 250
    assert [frame["op"] for frame in sandbox.frames] == ["load", "run", "run"]


def test_memory_is_measured_in_a_fresh_process():
    sandbox = Measured()
    sandbox.readings = iter([Memory(now=1, peak=1)] * 4)
    one = session(sandbox)
    one.measure(CALL, CALL)
    one.measure(CALL, CALL)
    assert sandbox.starts == 2


def test_where_memory_cannot_be_read_nothing_is_measured():
    with pytest.raises(NotMeasured, match="only a container measures"):
        session(FakeSandbox()).measure(CALL, CALL)


def test_a_session_of_our_own_functions_answers_like_one_in_a_sandbox():
    direct, inside = toy.direct(), session(FakeSandbox())
    steps = [CALL, Call(name="total", arguments=(np.ones(3),)), Call(name="absent")]
    for one, other in zip(direct.exchange(steps), inside.exchange(steps), strict=True):
        assert str(one.raised) == str(other.raised)
        assert [str(out) for out in one.outs] == [str(out) for out in other.outs]


def test_the_steps_of_a_large_frame_are_numbers_that_json_can_carry():
    (answer,) = toy.direct(double=lambda x: x).exchange(
        [Call(name="double", arguments=(math.inf,))]
    )
    assert answer.outs == (math.inf,)
