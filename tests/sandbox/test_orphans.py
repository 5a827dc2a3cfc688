"""Nothing outlives a harness that was killed with SIGKILL, at any point of a grading."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

import harness
from harness.sandbox.container import reaper

#: A harness that stops at one point for ever: it prints a line when it is there.
VICTIM = """
import secrets, sys, threading, time
from harness.sandbox.base import Limits
from harness.worker import wire

def load(source, seconds):
    data = source.encode()
    return wire.pack({"op": "load", "id": secrets.token_hex(16), "seconds": seconds,
        "arrays": "numpy", "origin": "script", "blocked": False, "entry": "a.py",
        "files": [{"name": "a.py", "size": len(data)}]}, [data])

def call(name, seconds):
    step = {"do": "call", "name": name, "arguments": [], "keywords": {}}
    return wire.pack(
        {"op": "run", "id": secrets.token_hex(16), "seconds": seconds, "steps": [step]})

ENDLESS = "import os, time\\nprint('pid', os.getpid())\\ndef endless():\\n while True: pass\\n"
FLOOD = "import os\\ndef flood():\\n while True: os.write(2, b'x' * 4096)\\n"
limits = Limits(import_seconds=4, exchange_seconds=2, log_bytes=1 << 40)
if sys.argv[1] == "process":
    from harness.sandbox.process import ProcessSandbox
    sandbox = ProcessSandbox(limits=limits)
else:
    from harness.sandbox.container.sandbox import ContainerSandbox
    from harness.sandbox.container.engine import connect
    from harness.sandbox.container.images import ensure_image
    client = connect()
    sandbox = ContainerSandbox(
        client=client, image=ensure_image(client, "takehome-numpy"), limits=limits)

def say_soon(text):
    threading.Timer(1.5, lambda: print(text, flush=True)).start()

stage = sys.argv[2]
if stage == "importing":
    say_soon("there")
    sandbox.start(load("while True: pass", 60), 60)
sandbox.start(load(ENDLESS + FLOOD, 4), 4)
if stage == "idle":
    print("there", flush=True)
    time.sleep(600)
say_soon("there")
sandbox.call(call(stage, 2 if sys.argv[1] == "process" else 60), 60)
"""

STAGES = ["importing", "idle", "endless", "flood"]


@pytest.fixture
def token() -> str:
    """Marks the environment of a victim, and so of its children."""
    return f"VICTIM={uuid.uuid4().hex}"


@pytest.fixture
def kill_at(token: str) -> Callable[..., int]:
    """Runs a harness to a stage, looks at what runs for it, kills it, and returns its pid."""

    def run(backend: str, stage: str, look: Callable[[int], object] = lambda pid: None) -> int:
        victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM, backend, stage],
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": str(Path(harness.__file__).parents[1])}
            | dict([token.split("=")]),
        )
        assert victim.stdout is not None
        with victim.stdout:
            assert victim.stdout.readline() == b"there\n"
        look(victim.pid)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        return victim.pid

    return run


def eventually(condition: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.docker
@pytest.mark.parametrize("stage", STAGES)
def test_a_container_ends_with_its_harness_and_is_reaped_by_the_next(kill_at, engine, stage):
    def of_victim(pid: int) -> dict[str, str]:
        found = engine.api.containers(all=True, filters={"label": reaper.PROCESS_LABEL})
        return {
            entry["Id"]: entry["State"]
            for entry in found
            if entry["Labels"][reaper.PROCESS_LABEL].startswith(f"{pid}.")
        }

    states: list[str] = []
    pid = kill_at("container", stage, lambda pid: states.extend(of_victim(pid).values()))
    assert states == ["running"]
    # The reaper of another test's harness may have been there already.
    assert eventually(lambda: {*of_victim(pid).values()} <= {"exited"}, 5)
    reaper.reap(engine)
    assert not of_victim(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("stage", ["idle", "endless", "flood"])
def test_a_process_ends_soon_after_its_harness(kill_at, token, stage):
    kill_at("process", stage)
    assert running_with(token) or stage != "endless"  # the others notice at once
    assert eventually(lambda: not running_with(token), 8)


def running_with(token: str) -> list[str]:
    """The processes that have ``token`` in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and token.encode() in (entry / "environ").read_bytes():
                found.append(entry.name)
    return found
