"""Memory of a submission, read from outside its process."""

from __future__ import annotations

import sys

import pytest

from harness.errors import CandidateCrashed

GRAB = """
import numpy as np

def grab(megabytes):
    return float(np.ones(megabytes << 17).sum())
"""

HIDE = """
import ctypes

def hide():
    return ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's memory")


@linux
def test_what_a_call_takes_and_gives_back_is_in_the_peak(submission):
    submission.load(GRAB)
    submission.value("grab", 1)
    before = submission.sandbox.memory()
    submission.value("grab", 64)
    after = submission.sandbox.memory()
    assert 60 << 20 <= after.peak - before.now <= 72 << 20
    assert after.now - before.now < 8 << 20


@linux
def test_the_peak_begins_anew_with_each_reading(submission):
    submission.load(GRAB)
    submission.value("grab", 64)
    submission.sandbox.memory()
    submission.value("grab", 1)
    reading = submission.sandbox.memory()
    assert reading.peak - reading.now < 16 << 20


def test_memory_without_a_process_says_that_it_has_ended(submission):
    submission.sandbox.log()
    with pytest.raises(CandidateCrashed):
        submission.sandbox.memory()


@pytest.mark.docker
def test_a_process_that_hides_is_not_measured(contained):
    contained.load(HIDE)
    assert contained.value("hide") == 0
    assert contained.sandbox.memory() is None
    assert contained.value("hide") == 0
