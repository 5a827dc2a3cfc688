"""Memory of a submission, read from outside its process."""

from __future__ import annotations

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

ELSEWHERE = """
import os
import time

held = []

def hold_file(path):
    with open(path, "wb") as file:
        file.write(bytes(12 << 20))

def hold_child():
    end, other_end = os.pipe()
    if os.fork() == 0:
        held.append(b"x" * (32 << 20))
        os.write(other_end, b"x")
        time.sleep(60)
    os.read(end, 1)
"""

pytestmark = pytest.mark.docker


def test_what_a_call_takes_and_gives_back_is_in_the_peak(contained):
    contained.load(GRAB)
    contained.value("grab", 1)
    before = contained.sandbox.memory()
    contained.value("grab", 64)
    after = contained.sandbox.memory()
    assert 60 << 20 <= after.peak - before.now <= 72 << 20
    assert after.now - before.now < 8 << 20


def test_the_peak_begins_anew_with_each_reading(contained):
    contained.load(GRAB)
    contained.value("grab", 64)
    contained.sandbox.memory()
    contained.value("grab", 1)
    reading = contained.sandbox.memory()
    assert reading.peak - reading.now < 16 << 20


def test_memory_without_a_process_says_that_it_has_ended(contained):
    contained.sandbox.log()
    with pytest.raises(CandidateCrashed):
        contained.sandbox.memory()


def test_a_process_that_hides_is_not_measured(contained):
    contained.load(HIDE)
    assert contained.value("hide") == 0
    assert contained.sandbox.memory() is None
    assert contained.value("hide") == 0


@pytest.mark.parametrize(
    "call", [("hold_file", "/tmp/x"), ("hold_file", "/dev/shm/x"), ("hold_child",)]
)
def test_what_is_held_elsewhere_than_in_an_array_counts_too(contained, call):
    contained.load(ELSEWHERE)
    before = contained.sandbox.memory()
    contained.call(*call)
    assert contained.sandbox.memory().now - before.now > 10 << 20
