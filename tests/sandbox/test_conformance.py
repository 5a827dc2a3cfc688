"""What every backend must do; a backend that cannot guarantee something says so."""

import os
import time
from collections.abc import Callable

import numpy as np
import pytest

from harness.errors import (
    CandidateCrashed,
    CandidateError,
    CandidateTimedOut,
    OutOfResources,
    ProtocolViolation,
)
from harness.protocol import Call
from harness.sandbox.base import ISOLATED, MEMORY, PROCESS_TREE

ATTENTION = """
import numpy as np

def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v, weights
"""

#: Finds the descriptor that frames go out by, as a hostile submission would.
HOSTILE = """
import json, os, struct, sys, threading, time

def say(data):
    for number in range(3, 64):
        try:
            os.write(number, data)
        except OSError:
            pass

def frame(header, size=0, magic=b"TH1\\n"):
    text = json.dumps(header).encode()
    return struct.pack("<4sIQ", magic, len(text), size) + text

def current_id():
    place = sys._getframe()
    while place is not None:
        if isinstance(place.f_locals.get("header"), dict):
            return place.f_locals["header"]["id"]
        place = place.f_back

def answer(identifier):
    return frame({"id": identifier, "answers": [{"form": "nothing", "outs": []}]})
"""

ENDLESS = """
def endless():
    while True:
        pass
"""


def reference(q, k, v):
    scores = q.astype(np.float64) @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v


def eventually(condition: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_backend_is_isolated_exactly_when_it_guarantees_everything(submission):
    guarantees = submission.sandbox.guarantees
    assert submission.sandbox.environment.isolated == (guarantees == ISOLATED)


def test_answers_come_back(submission, queries):
    submission.load(ATTENTION)
    answer = submission.call("attention", queries, queries + 1, queries * 2)
    assert answer.form == "tuple"
    out, weights = answer.outs
    assert out.values == pytest.approx(reference(queries, queries + 1, queries * 2), abs=1e-5)
    assert weights.values.shape == (2, 3, 3)


def test_a_submission_is_given_no_arguments_of_ours(submission):
    submission.load("import sys\ndef arguments(): return len(sys.argv)")
    assert submission.call("arguments").outs == (1,)


def test_calls_that_travel_together_are_answered_in_order(submission, queries):
    submission.load("def double(x): return x * 2")
    answers = submission.run([Call(name="double", arguments=(queries + i,)) for i in range(20)])
    for i, answer in enumerate(answers):
        assert np.array_equal(answer.outs[0].values, (queries + i) * 2)


def test_a_large_array_passes_both_ways(submission):
    submission.load("def same(x): return x")
    sent = np.random.default_rng(1).normal(size=(1 << 18,))
    assert np.array_equal(submission.value("same", sent), sent)


def test_what_is_raised_comes_back_with_the_line_of_the_submission(submission):
    submission.load("import numpy as np\n\ndef broken(x):\n    return np.linalg.inv(x)\n")
    raised = submission.call("broken", np.zeros((2, 3))).raised
    assert raised is not None
    assert (raised.kind, raised.line) == ("LinAlgError", 4)


def test_a_step_that_raises_does_not_keep_the_next_from_running(submission):
    submission.load("def fail(): raise ValueError('no')\ndef fine(): return 1")
    first, second = submission.run([Call(name="fail"), Call(name="fine")])
    assert first.raised is not None and first.raised.message == "no"
    assert second.outs == (1,)


def test_noise_on_standard_output_is_no_answer_and_is_kept_as_the_log(submission):
    submission.load(
        "import os, sys\nprint('loading')\n"
        "def f():\n print('PASSED', {'answers': 1}); os.write(1, b'TH1\\n')\n"
        " sys.stderr.write('e\\n'); return 7"
    )
    assert submission.value("f") == 7
    log = submission.sandbox.log()
    assert log.startswith("loading\nPASSED {'answers': 1}\n")
    assert log.endswith("e\n")


def test_control_characters_of_the_log_are_spelled_out(submission):
    submission.load("print('\\x1b[2J\\u202egnp')")
    assert submission.sandbox.log() == "<U+001B>[2J<U+202E>gnp\n"


def test_the_beginning_and_the_end_of_a_long_log_are_kept(submission):
    submission.load("print('first'); print('x' * 500_000); print('last')")
    log = submission.sandbox.log()
    assert log.startswith("first\nxxx") and log.endswith("xxx\nlast\n")
    assert "bytes left out" in log and len(log) < 45_000


def test_printing_without_end_is_out_of_resources(submission):
    submission.load("def flood():\n while True: print('x' * 1000)")
    with pytest.raises(OutOfResources, match="printed more than 1 MiB"):
        submission.call("flood")
    assert len(submission.sandbox.log()) < 45_000


def test_a_print_just_before_a_timeout_is_in_the_log(submission):
    submission.load("def stuck():\n print('got here')\n while True: pass")
    with pytest.raises(CandidateTimedOut):
        submission.call("stuck")
    assert submission.sandbox.log() == "got here\n"


def test_an_endless_call_times_out_on_time(submission):
    submission.load(ENDLESS)
    began = time.monotonic()
    with pytest.raises(CandidateTimedOut, match="within 1 s"):
        submission.call("endless")
    assert 0.9 < time.monotonic() - began < 8


def test_the_next_check_goes_on_after_a_timeout(submission, queries):
    for _ in range(3):
        submission.load(ENDLESS + ATTENTION)
        with pytest.raises(CandidateTimedOut):
            submission.call("endless", seconds=0.3)
    submission.load(ENDLESS + ATTENTION)
    assert submission.call("attention", queries, queries, queries).form == "tuple"


def test_a_call_without_a_process_says_that_it_has_ended(submission):
    submission.load(ENDLESS)
    with pytest.raises(CandidateTimedOut):
        submission.call("endless", seconds=0.3)
    with pytest.raises(CandidateCrashed, match="has ended"):
        submission.call("endless")


FAMILY = """
import os, time

def children():
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    return pid

def detached():
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        pid = os.fork()
        if pid:
            os.write(writer, str(pid).encode())
            os._exit(0)
        os.closerange(0, 256)
        time.sleep(600)
    return int(os.read(reader, 20))

def running():
    return sum(name.isdigit() for name in os.listdir("/proc"))
"""


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_a_timeout_kills_the_children(submission):
    submission.load(FAMILY + ENDLESS)
    before = submission.value("running")
    pid = submission.value("children")
    with pytest.raises(CandidateTimedOut):
        submission.call("endless", seconds=0.3)
    if PROCESS_TREE in submission.sandbox.guarantees:
        submission.load(FAMILY)
        assert submission.value("running") == before
    else:
        assert eventually(lambda: not is_alive(pid), 2)


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_a_timeout_kills_detached_processes_where_that_is_guaranteed(submission):
    if PROCESS_TREE not in submission.sandbox.guarantees:
        pytest.skip("this backend does not guarantee it")
    submission.load(FAMILY + ENDLESS)
    before = submission.value("running")
    submission.value("detached")
    assert submission.value("running") > before
    with pytest.raises(CandidateTimedOut):
        submission.call("endless", seconds=0.3)
    submission.load(FAMILY)
    assert submission.value("running") == before


def test_memory_is_limited_where_that_is_guaranteed(submission):
    if MEMORY not in submission.sandbox.guarantees:
        pytest.skip("this backend does not guarantee it")
    submission.load("import numpy as np\ndef grab(): return float(np.ones(1 << 27).sum())")
    try:
        raised = submission.call("grab", seconds=5).raised
        assert raised is not None and "MemoryError" in raised.kind
    except OutOfResources as error:
        assert "memory" in str(error)
    submission.load("def fine(): return 1")
    assert submission.value("fine") == 1


def test_sys_exit_in_a_call_is_something_that_it_raised(submission):
    submission.load("import sys\ndef leave(): sys.exit(0)\ndef fine(): return 1")
    raised = submission.call("leave").raised
    assert raised is not None and raised.kind == "SystemExit"
    assert submission.value("fine") == 1


@pytest.mark.parametrize("code", [0, 3])
def test_leaving_in_a_call_is_a_crash_whatever_the_exit_status(submission, code):
    submission.load(f"import os\ndef leave(): os._exit({code})")
    with pytest.raises(CandidateCrashed, match=f"exit status {code}"):
        submission.call("leave")


def test_a_segmentation_fault_is_a_crash(submission):
    submission.load("import ctypes\ndef fall(): ctypes.string_at(0)")
    with pytest.raises(CandidateCrashed, match="signal 11"):
        submission.call("fall")


def test_leaving_after_an_answer_is_a_crash_of_the_next_call(submission):
    submission.load(
        "import os, threading\ndef f(): threading.Timer(0.05, os._exit, (0,)).start(); return 1"
    )
    assert submission.value("f") == 1
    with pytest.raises(CandidateCrashed):
        while True:
            submission.call("f")


def test_a_module_that_exits_on_import_has_its_definitions_loaded(submission):
    reply = submission.load("import os\ndef f(): return 5\nos._exit(0)")
    assert reply.header["loaded"] == "definitions"
    assert "ended the process" in str(reply.header["reason"])
    assert submission.value("f") == 5


def test_a_module_that_never_finishes_has_its_definitions_loaded_in_time(submission):
    began = time.monotonic()
    reply = submission.load("def f(): return 5\nwhile True: pass", seconds=2.0)
    assert reply.header["loaded"] == "definitions"
    assert "did not finish in 1.5 s" in str(reply.header["reason"])
    assert submission.value("f") == 5
    assert time.monotonic() - began < 8


def test_a_module_that_kills_every_process_that_loads_it_does_not_load(submission):
    with pytest.raises(CandidateError):
        submission.load("import os\ndef f(x=os.kill(os.getpid(), 9)): return 5")


def test_a_file_that_does_not_compile_says_where(submission):
    raised = submission.load("def f(:\n  pass").header["raised"]
    assert (raised["type"], raised["line"]) == ("SyntaxError", 1)


@pytest.mark.parametrize(
    "lie",
    [
        "b'garbage that is longer than the prefix of a frame'",
        "struct.pack('<4sIQ', b'TH1\\n', 10, 1 << 62)",
        "struct.pack('<4sIQ', b'TH1\\n', 0xFFFFFFFF, 0)",
        "frame({'id': current_id(), 'ended': 'finished', 'leftovers': 0}, magic=b'TH1!')",
        "frame({'id': current_id(), 'ended': 'timed_out', 'detail': ''}, magic=b'TH1!')",
        "frame({'id': current_id(), 'ended': 'finished'})",
        "answer('0' * 32)",
        "struct.pack('<4sIQ', b'TH1\\n', 2, 0) + b'[]'",
        "struct.pack('<4sIQ', b'TH1\\n', 4, 0) + b'null'",
        "struct.pack('<4sIQ', b'TH1\\n', 9999, 0) + b'[' * 9999",
        "answer(current_id()) + answer(current_id())",
    ],
)
def test_a_lie_on_the_wire_is_a_violation(submission, lie):
    submission.load(HOSTILE + f"\ndef lie():\n say({lie})\n while True: pass")
    with pytest.raises(ProtocolViolation):
        submission.call("lie")
        submission.call("lie")
    submission.load("def fine(): return 1")
    assert submission.value("fine") == 1


def test_an_answer_under_an_old_id_is_a_violation(submission):
    submission.load(
        HOSTILE + "\nold = []\ndef f():\n old.append(current_id())\n"
        " if len(old) > 1: say(answer(old[0]))\n return 1"
    )
    assert submission.value("f") == 1
    with pytest.raises(ProtocolViolation):
        submission.call("f")


def test_an_answer_sent_ahead_is_a_violation(submission):
    submission.load(
        HOSTILE + "\n"
        "def ahead():\n time.sleep(0.1); say(answer('0' * 32))\n"
        "def start(): threading.Thread(target=ahead).start(); return 1\n"
        "def f(): return 1"
    )
    assert submission.value("start") == 1
    with pytest.raises(ProtocolViolation):
        for _ in range(100_000):
            submission.call("f")


def test_an_answer_that_drips_times_out_on_time(submission):
    submission.load(
        HOSTILE + "\ndef drip():\n for byte in answer(current_id()):\n"
        "  say(bytes([byte])); time.sleep(0.2)"
    )
    began = time.monotonic()
    with pytest.raises(CandidateTimedOut):
        submission.call("drip")
    assert time.monotonic() - began < 8


def test_a_reply_over_the_cap_does_not_cross(submission):
    submission.load("import numpy as np\ndef big(): return np.zeros(1 << 20)")
    (out,) = submission.call("big").outs
    assert (out.dtype, out.shape) == ("f8", (1 << 20,))


def test_a_view_of_terabytes_does_not_cross(submission):
    submission.load("import numpy as np\ndef huge(): return np.broadcast_to(0.0, (1 << 40,))")
    (out,) = submission.call("huge").outs
    assert out.shape == (1 << 40,)


def test_closing_every_descriptor_is_a_crash_at_once(submission):
    submission.load("import os\ndef mute():\n os.closerange(3, 256)\n while True: pass")
    began = time.monotonic()
    with pytest.raises(CandidateCrashed):
        submission.call("mute", seconds=30)
    assert time.monotonic() - began < 8


def test_a_submission_that_stops_reading_times_out_on_time(submission):
    submission.load(
        "import os, time\ndef deaf(x):\n os.read = lambda *a: time.sleep(60)\n return 1"
    )
    assert submission.value("deaf", np.zeros(1)) == 1
    began = time.monotonic()
    with pytest.raises(CandidateTimedOut):
        submission.call("deaf", np.zeros(8 << 20))
    assert time.monotonic() - began < 8


def test_an_exception_whose_words_are_hostile_is_harmless(submission):
    submission.load(
        "class Loud(Exception):\n def __str__(self): return '\\x00' * (1 << 22)\n"
        "class Mute(Exception):\n def __str__(self): raise self\n"
        "def loud(): raise Loud()\ndef mute(): raise Mute()\n"
        "def skip(): raise type('Skipped', (BaseException,), {})('x')"
    )
    loud, mute, skip = submission.run([Call(name=n) for n in ("loud", "mute", "skip")])
    assert loud.raised is not None and len(loud.raised.message) <= 1100
    assert mute.raised is not None and "could not be read" in mute.raised.message
    assert skip.raised is not None and skip.raised.kind == "Skipped"


STATE = """
import os, sys, builtins
def write():
    builtins.secret = sys.secret = os.environ['SECRET'] = 'x'
    os.set_blocking(2, False)
    return 1
def read():
    found = [hasattr(builtins, 'secret'), hasattr(sys, 'secret'), 'SECRET' in os.environ]
    found.append(not os.get_blocking(2))
    return sum(found)
"""


def test_a_submission_finds_nothing_of_the_one_before(submission):
    submission.load(STATE)
    assert submission.value("write") == 1
    assert submission.value("read") == 4
    submission.sandbox.log()
    submission.load(STATE)
    assert submission.value("read") == 0


def test_each_submission_has_a_log_of_its_own(submission):
    submission.load("print('one')")
    assert submission.sandbox.log() == "one\n"
    submission.load("print('two')")
    assert submission.sandbox.log() == "two\n"


def test_closing_twice_and_after_an_error_is_safe(submission):
    submission.load(ENDLESS)
    with pytest.raises(CandidateTimedOut):
        submission.call("endless", seconds=0.3)
    submission.sandbox.close()
    submission.sandbox.close()
    assert submission.sandbox.log() == ""
