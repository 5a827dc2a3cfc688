import os
import subprocess
import sys
import time

import pytest

from harness.sandbox.base import Limits
from harness.sandbox.container import reaper
from harness.sandbox.container.hardening import create_arguments


@pytest.fixture
def own():
    return reaper.labels(60)


def test_a_container_of_this_process_is_not_abandoned(own):
    assert not reaper.is_abandoned(own)


def test_a_container_of_a_process_that_has_ended_is_abandoned(own):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    gone = own | {reaper.PROCESS_LABEL: f"{child.pid}.1"}
    assert reaper.is_abandoned(gone)


def test_a_container_of_an_earlier_process_with_the_same_pid_is_abandoned(own):
    assert reaper.is_abandoned(own | {reaper.PROCESS_LABEL: f"{os.getpid()}.1"})


def test_a_container_from_before_the_machine_started_is_abandoned(own):
    assert reaper.is_abandoned(own | {reaper.BOOT_LABEL: "another"})


def test_a_container_of_another_machine_is_left_until_it_is_overdue(own):
    other = own | {reaper.HOST_LABEL: "elsewhere", reaper.PROCESS_LABEL: "1.1"}
    assert not reaper.is_abandoned(other)
    assert reaper.is_abandoned(other | {reaper.DEADLINE_LABEL: str(int(time.time()) - 61)})


@pytest.mark.docker
def test_reaping_removes_what_is_abandoned_and_nothing_else(own, engine, image):
    made = []
    for labels in (own, own | {reaper.PROCESS_LABEL: f"{os.getpid()}.1"}):
        arguments = create_arguments(
            engine.api, image, Limits(), user=64001, runtime=None, seconds=60, labels=labels
        )
        made.append(engine.api.create_container(**arguments)["Id"])
    reaper.reap(engine)
    left = {entry["Id"] for entry in engine.api.containers(all=True)}
    assert [identifier in left for identifier in made] == [True, False]
    engine.api.remove_container(made[0], force=True)
