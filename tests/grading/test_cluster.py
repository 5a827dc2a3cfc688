"""A batch on a real cluster of worker processes, which are killed while it runs."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.grading.cluster import DaskWorkers, is_local

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_submissions" / "positional_encoding"

#: Prints where its scheduler is and its workers' process ids; ends when its input does.
CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        print(cluster.scheduler_address.removeprefix("tcp://"), *pids, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def cluster(tmp_path):
    """The address of a cluster, and the process ids of its workers."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    address, *pids = process.stdout.readline().split()
    yield address, [int(pid) for pid in pids], process
    process.communicate(timeout=60)


def start(inbox, out, address):
    command = [sys.executable, "-m", "harness.cli", "grade", str(inbox), "--out", str(out)]
    command += ["--spec", "positional_encoding", "--sandbox", "process", "--seed", "7"]
    command += ["--executor", f"dask://{address}"] if address else []
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def handed_in(folder, count):
    folder.mkdir()
    samples = sorted(SAMPLES.glob("*.py"))
    for number in range(count):
        (folder / f"s{number:02}.py").write_bytes(samples[number % len(samples)].read_bytes())
    return folder


def decided(out):
    results = json.loads((out / "results.json").read_text())["submissions"]
    return [
        (one["id"], one["verdict"], one["earned"], [check["outcome"] for check in one["checks"]])
        for one in results
    ]


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing_and_the_results_are_those_of_this_machine(
    cluster, tmp_path
):
    address, pids, _ = cluster
    inbox = handed_in(tmp_path / "in", 12)
    run = start(inbox, tmp_path / "out", address)
    first = run.stdout.readline()  # something is graded
    os.kill(pids[0], signal.SIGKILL)
    rest, said = run.communicate(timeout=300)
    assert run.returncode == 1, said
    assert len((first + rest).splitlines()) == 12
    local = start(inbox, tmp_path / "local", None)
    local.communicate(timeout=300)
    assert decided(tmp_path / "out") == decided(tmp_path / "local")


@pytest.mark.slow
def test_when_the_scheduler_is_gone_the_same_command_grades_the_rest(cluster, tmp_path):
    address, _, process = cluster
    inbox = handed_in(tmp_path / "in", 12)
    run = start(inbox, tmp_path / "out", address)
    run.stdout.readline()
    process.kill()
    _, said = run.communicate(timeout=300)
    assert run.returncode == 3, said
    assert "run the same command again" in said
    kept = len(decided(tmp_path / "out"))
    again = start(inbox, tmp_path / "out", None)
    _, said = again.communicate(timeout=300)
    assert len(decided(tmp_path / "out")) == 12
    assert f"{kept} kept from an earlier run" in said


@pytest.mark.slow
def test_a_worker_that_would_grade_by_something_else_is_refused(cluster):
    address, *_ = cluster
    with pytest.raises(UsageError, match=r"the worker tcp://\S+ has cwd .*, expected elsewhere"):
        DaskWorkers(f"dask://{address}", identify=Elsewhere(os.getpid()), close=os.getpid)


class Elsewhere:
    """Says one thing in one process and another in all others."""

    def __init__(self, pid):
        self.pid = pid

    def __call__(self):
        return {"cwd": "elsewhere" if os.getpid() == self.pid else "there"}


@pytest.mark.parametrize(
    "address", ["dask", "dask://", "dask://host", "dask://host:x", "tcp://h:1"]
)
def test_an_executor_of_another_form_is_a_mistake_of_the_user(address):
    with pytest.raises(UsageError, match="expected local or dask://HOST:PORT"):
        is_local(address)


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("dask://127.0.0.1:8786", True),
        ("dask://localhost:8786", True),
        ("dask://[::1]:8786", True),
        ("dask://10.0.0.1:8786", False),
        ("dask://grader.example:8786", False),
    ],
)
def test_a_cluster_on_this_machine_needs_no_encryption(address, local):
    assert is_local(address) is local
