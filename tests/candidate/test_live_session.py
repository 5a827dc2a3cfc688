"""Functions of a notebook, some of which never come back."""

import _thread
import contextlib
import signal
import threading

import numpy as np
import pytest

from harness.candidate import LiveSession
from harness.errors import CandidateTimedOut, SubmissionEnded
from harness.protocol import Call
from harness.sandbox import Limits

CALL = Call(name="double", arguments=(np.arange(3.0),))


def session(double, **limits):
    return LiveSession({"double": double}, arrays="numpy", limits=Limits(**limits))


def loop_for_ever(x):
    while True:
        pass


def test_what_ends_in_time_answers():
    (answer,) = session(lambda x: 2 * x).exchange([CALL])
    np.testing.assert_array_equal(answer.outs[0].values, [0, 2, 4])


def test_a_loop_that_catches_what_it_can_is_interrupted_and_leaves_no_thread():
    def double(x):
        while True:
            with contextlib.suppress(Exception):
                loop_for_ever(x)

    before = threading.active_count()
    with pytest.raises(CandidateTimedOut, match=r"within 0\.1 s"):
        session(double, exchange_seconds=0.1).exchange([CALL])
    assert threading.active_count() == before


def test_what_compiled_code_does_is_left_behind_until_it_ends():
    done = threading.Event()
    with pytest.raises(CandidateTimedOut):
        session(lambda x: done.wait(), exchange_seconds=0.05).exchange([CALL])
    done.set()


def test_after_some_timeouts_nothing_more_is_tried():
    hanging = session(loop_for_ever, exchange_seconds=0.05, timeouts=2)
    for _ in range(2):
        with pytest.raises(CandidateTimedOut):
            hanging.exchange([CALL])
    with pytest.raises(SubmissionEnded, match="timed out 2 times"):
        hanging.exchange([CALL])


def test_somebody_who_interrupts_the_cell_gets_it_back():
    # As in a notebook; a process of pytest-xdist ignores the signal.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = threading.active_count()
    user = threading.Timer(0.2, _thread.interrupt_main)
    user.start()
    with pytest.raises(KeyboardInterrupt):
        session(loop_for_ever, exchange_seconds=60).exchange([CALL])
    user.join()
    signal.signal(signal.SIGINT, usual)
    assert threading.active_count() == before
