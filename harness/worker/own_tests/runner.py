"""Runs a candidate's tests again and again, each time in a new process and against one program.

This process executes nothing of the candidate's. It has numpy (or torch) and pytest loaded, is
handed the files once and one program per request, forks, waits for the child's report until the
deadline, and leaves nothing of the child. A report is passed on as it is: bytes that the host
reads as what somebody claims.
"""

from __future__ import annotations

import gc
import json
import os
import select
import sys
import tempfile
import time
from typing import Any

from .. import processes, supervisor, wire
from ..channel import Channel
from . import pytest_run

_CHUNK = 1 << 16


class Runner:
    """Serves the host until it leaves."""

    def __init__(self, host: Channel, wakeup_fd: int, deadline: float, report_cap: int) -> None:
        self._host = host
        self._awake = wakeup_fd
        self._deadline = deadline
        self._cap = report_cap
        self._shared = processes.SharedState()
        self._files: dict[str, bytes] = {}

    def serve(self) -> None:
        """Answer frame after frame; every one gets exactly one frame back."""
        while True:
            self._await_host()
            header, payload = self._host.read()
            if header["op"] == "files":
                self._files = _cut(header["files"], payload)
                self._reply(header, "finished", b"")
            else:
                wanted = json.loads(bytes(payload))
                self._reply(header, *self._run(wanted, time.monotonic() + header["seconds"]))

    def _reply(self, header: dict[str, Any], how: str, report: bytes) -> None:
        self._host.write({"id": header["id"], "how": how}, [report])

    def _run(self, wanted: dict[str, Any], until: float) -> tuple[str, bytes]:
        """Run the tests once; return how that ended, and the child's report."""
        incoming, outgoing = os.pipe()
        os.set_blocking(incoming, False)

        def body() -> None:
            pytest_run.run(self._files, wanted, outgoing)

        close = [incoming, self._host.incoming, self._host.outgoing, self._awake]
        pid = processes.start(body, close)
        os.close(outgoing)
        try:
            return self._gather(pid, incoming, until)
        finally:
            os.close(incoming)
            processes.kill_everything(self._awake)
            self._shared.restore()

    def _gather(self, pid: int, incoming: int, until: float) -> tuple[str, bytes]:
        """Read what the child writes until it ends, or writes too much."""
        report, until = bytearray(), min(until, self._deadline)
        poll = select.poll()
        poll.register(self._awake, select.POLLIN)
        poll.register(self._host.incoming, 0)
        poll.register(incoming, select.POLLIN)
        while len(report) <= self._cap:
            ended = processes.reap()
            while (data := _read(incoming)) and len(report) <= self._cap:
                report += data
            if pid in ended:
                return ("finished" if ended[pid] == 0 else "crashed"), bytes(report)
            remaining = until - time.monotonic()
            if remaining <= 0:
                return "timed_out", b""
            for descriptor, event in poll.poll(remaining * 1000 + 1):
                if descriptor == self._host.incoming:
                    processes.leave(0)
                if descriptor == incoming and not event & select.POLLIN:
                    poll.unregister(incoming)  # closed: nothing more will come of it
            processes.drain(self._awake)
        return "crashed", b""

    def _await_host(self) -> None:
        poll = select.poll()
        poll.register(self._host.incoming, select.POLLIN)
        if not poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000 + 1):
            processes.leave(supervisor.EXIT_DEADLINE)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return b""


def _cut(entries: list[dict[str, Any]], payload: memoryview) -> dict[str, bytes]:
    """Return the files that a payload holds one after another."""
    files, offset = {}, 0
    for entry in entries:
        files[entry["name"]] = bytes(payload[offset : offset + entry["size"]])
        offset += entry["size"]
    return files


def main(arguments: list[str]) -> None:
    """Run as PID 1: ``arguments`` are the deadline in seconds and the cap of a report."""
    deadline, cap = time.monotonic() + float(arguments[0]), int(arguments[1])
    wakeup_fd = processes.harden()
    host = Channel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    versions = supervisor.warm_up()
    with tempfile.TemporaryDirectory() as folder:
        pytest_run.warm_up(folder)
    gc.collect()
    gc.freeze()
    runner = Runner(host, wakeup_fd, deadline, cap)
    host.send(wire.pack({"id": "", "ready": versions}, magic=wire.SUPERVISOR))
    try:
        runner.serve()
    except EOFError:
        processes.leave(0)
    except processes.Unclean as left:
        print(f"takehome: {left}", file=sys.stderr)
        processes.leave(supervisor.EXIT_UNCLEAN)
