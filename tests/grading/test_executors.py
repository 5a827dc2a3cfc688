import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from harness.grading.executors import LocalProcesses

ROOT = Path(__file__).parents[2]


def nothing():
    pass


def leave(code):
    os._exit(code)


def pid_when(path):
    """Write this process's id to a file, and go on for a long time."""
    Path(path).with_suffix(".new").write_text(str(os.getpid()))
    Path(path).with_suffix(".new").rename(path)
    time.sleep(600)


@pytest.fixture
def processes():
    executor = LocalProcesses(2, close=nothing)
    yield executor
    executor.shutdown(cancel_futures=True)


def until_there(path):
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    return int(path.read_text())


def until_gone(pid):
    until = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_work_is_done_in_another_process(processes):
    assert processes.submit(os.getpid).result(60) != os.getpid()
    assert processes.submit(pow, 2, 5).result(60) == 32


def test_a_process_that_dies_breaks_its_work_and_the_next_is_done(processes):
    with pytest.raises(BrokenExecutor):
        processes.submit(leave, 3).result(60)
    assert processes.submit(pow, 2, 5).result(60) == 32


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_runs_on_when_the_pool_is_stopped(processes, tmp_path):
    processes.submit(pid_when, tmp_path / "pid")
    pid = until_there(tmp_path / "pid")
    processes.shutdown(cancel_futures=True)
    until_gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_runs_on_when_the_parent_is_killed(tmp_path):
    program = (
        "import sys\n"
        "from tests.grading.test_executors import LocalProcesses, nothing, pid_when\n"
        "executor = LocalProcesses(1, close=nothing)\n"
        "executor.submit(pid_when, sys.argv[1]).result()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, tmp_path / "pid"], cwd=ROOT)
    pid = until_there(tmp_path / "pid")
    parent.send_signal(signal.SIGKILL)
    parent.wait(60)
    until_gone(pid)


def test_a_process_of_the_pool_does_not_heed_the_terminals_interrupt(processes):
    assert processes.submit(signal.getsignal, signal.SIGINT).result(60) is signal.SIG_IGN
