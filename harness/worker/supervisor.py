"""PID 1 of a sandbox: starts a process per submission and relays frames to it.

It never executes anything of a submission. It has numpy (and torch) loaded and warm, so that a
fork of it is a process in which no submission has run, ready at once. Between the host and that
process it passes whole frames on, keeps the deadline of each exchange, and says in frames of its
own how a process ended. It leaves when the host does, and at a deadline of its own.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import select
import socket
import sys
import time
from typing import Any

from . import loader, memory, processes, session, wire
from .channel import REQUEST_CAP, Channel
from .exchange import Ended, Reply, Worker, send

REPLY_CAP = 64 << 20
EXIT_DEADLINE = 124  #: the supervisor's own deadline has come
EXIT_TAMPERED = 125  #: its limits, affinity or policy are not those it started with
EXIT_UNCLEAN = 126  #: something of a submission would not go away
_CHUNK = 1 << 20


class Supervisor:
    """Serves the host until it leaves."""

    def __init__(self, host: Channel, wakeup_fd: int, deadline: float, reply_cap: int) -> None:
        self._host = host
        self._awake = wakeup_fd
        self._deadline = deadline
        self._reply_cap = reply_cap
        self._worker: Worker | None = None
        self._leftovers = 0
        self._own_state = processes.own_state()
        self._shared = processes.SharedState()

    def serve(self) -> None:
        """Answer frame after frame; every one gets exactly one frame back."""
        while True:
            header, frame = self._request()
            try:
                reply = self._answer(header, frame)
            except Ended as ended:
                self._stop_worker()
                words: dict[str, Any] = {"ended": ended.how, "detail": ended.detail[:200]}
                if ended.how == "finished":
                    words["leftovers"] = self._leftovers
                    os.write(2, wire.log_mark(header["id"]))
                reply = wire.pack({"id": header["id"], **words}, magic=wire.SUPERVISOR)
            self._write(reply)

    def _answer(self, header: dict[str, Any], frame: bytes) -> bytes | bytearray:
        until = time.monotonic() + header.get("seconds", 0)
        match header["op"]:
            case "load":
                return self._load(frame, header["seconds"])
            case "run":
                return self._exchange(frame, until)
            case "memory":
                return self._memory(header["id"])
            case _:
                if self._worker is not None:
                    self._refuse_early_bytes(self._worker)
                raise Ended("finished")

    def _load(self, frame: bytes, seconds: float) -> bytes | bytearray:
        """Load a submission; when its top level ends the process, load its definitions alone."""
        self._stop_worker()
        self._leftovers = 0
        until = time.monotonic() + seconds
        try:
            self._start_worker("")
            return self._exchange(frame, until - seconds * (1 - loader.WHOLE_SHARE))
        except Ended as ended:
            if ended.how == "protocol_violation":
                raise
            self._stop_worker()
            self._leftovers += 1  # one that had to be stopped wears a sandbox, too
            self._start_worker(loader.why_not_whole(ended.how, ended.detail, seconds))
            return self._exchange(frame, until)

    def _memory(self, identifier: str) -> bytes:
        """Say how much memory the worker, its children and its files have."""
        worker = self._worker
        if worker is None:
            raise Ended("crashed", "there is no process")
        self._refuse_early_bytes(worker)
        reply = {"id": identifier, "memory": memory.read(processes.SCRATCH)}
        return wire.pack(reply, magic=wire.SUPERVISOR)

    def _start_worker(self, definitions_because: str) -> None:
        if processes.own_state() != self._own_state:
            processes.leave(EXIT_TAMPERED)
        ours, theirs = socket.socketpair()

        def body() -> None:
            processes.open_streams_anew()
            session.print_by_line()
            channel = Channel(theirs.fileno(), theirs.fileno())
            session.serve(channel, self._reply_cap, definitions_because=definitions_because)

        close = [ours.fileno(), self._host.incoming, self._host.outgoing, self._awake]
        kills = processes.oom_kills()
        self._worker = Worker(processes.start(body, close), ours, kills)
        theirs.close()

    def _stop_worker(self) -> None:
        """Leave nothing of the submission: no process, no file."""
        if self._worker is None:
            return
        self._worker.end.close()
        ended = processes.kill_everything(self._awake)
        self._leftovers += len(ended.keys() - {self._worker.pid}) + self._shared.restore()
        self._worker = None

    def _exchange(self, frame: bytes, until: float) -> bytes | bytearray:
        """Pass a frame to the worker and return its reply.

        Raises:
            Ended: it has not replied, or not as the protocol asks.
        """
        worker = self._worker
        if worker is None:
            raise Ended("crashed", "there is no process")
        self._refuse_early_bytes(worker)
        unsent, reply = memoryview(frame), Reply(self._reply_cap)
        while True:
            heard = self._poll(worker, bool(unsent), until)
            if unsent and heard & select.POLLOUT:
                unsent = unsent[send(worker.end, unsent) :]
            got = heard & (select.POLLIN | select.POLLHUP) and reply.read_from(worker.end)
            if (whole := reply.complete) is not None:
                self._refuse_early_bytes(worker)
                return whole
            if worker.status is not None and not got:
                raise worker.how_it_ended()
            if heard & select.POLLHUP and not got:
                raise self._closed(worker)

    def _refuse_early_bytes(self, worker: Worker) -> None:
        """Between exchanges a worker has nothing to say."""
        try:
            early = worker.end.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
        except (BlockingIOError, ConnectionResetError):
            return
        if early:
            raise Ended("protocol_violation", "it sent bytes that nobody asked for")

    def _closed(self, worker: Worker) -> Ended:
        """The worker closed its socket: it is about to end, or pretends to."""
        until = time.monotonic() + 0.2
        while worker.status is None and time.monotonic() < until:
            self._poll(None, False, until)
            self._note(worker)
        return (
            Ended("crashed", "it closed its socket")
            if worker.status is None
            else (worker.how_it_ended())
        )

    def _poll(self, worker: Worker | None, sending: bool, until: float) -> int:
        """Wait for something to happen; return what happened at the worker's socket.

        Raises:
            Ended: ``until`` has come.
        """
        now = time.monotonic()
        if now >= self._deadline:
            processes.leave(EXIT_DEADLINE)
        if now >= until and worker is not None:
            raise Ended("timed_out")
        poll = select.poll()
        poll.register(self._awake, select.POLLIN)
        poll.register(self._host.incoming, 0)
        if worker is not None:
            poll.register(worker.end, select.POLLIN | (select.POLLOUT if sending else 0))
        heard = 0
        for descriptor, event in poll.poll(max(0.0, min(until, self._deadline) - now) * 1000 + 1):
            if descriptor == self._host.incoming:
                processes.leave(0)
            elif descriptor == self._awake:
                processes.drain(self._awake)
                if worker is not None:
                    self._note(worker)
            else:
                heard = event
        return heard

    def _note(self, worker: Worker) -> None:
        """Reap; remember how the worker ended, if it did."""
        worker.status = processes.reap().get(worker.pid, worker.status)

    def _request(self) -> tuple[dict[str, Any], bytes]:
        """Return the host's next frame, parsed and whole; leave when there is none."""
        prefix = self._read(wire.PREFIX.size)
        _, header_length, payload_length = wire.PREFIX.unpack(prefix)
        if header_length > wire.HEADER_CAP or payload_length > REQUEST_CAP:
            processes.leave(1)
        text = self._read(header_length)
        return wire.parse_own(text), prefix + text + self._read(payload_length)

    def _read(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._await_host(select.POLLIN)
            chunk = os.read(self._host.incoming, min(length - len(data), _CHUNK))
            if not chunk:
                processes.leave(0)
            data += chunk
        return bytes(data)

    def _write(self, frame: bytes | bytearray) -> None:
        view = memoryview(frame)
        while view:
            self._await_host(select.POLLOUT)
            view = view[os.write(self._host.outgoing, view[:_CHUNK]) :]

    def _await_host(self, event: int) -> None:
        """Wait until the host can be read from or written to; orphans are reaped meanwhile."""
        host = self._host.incoming if event == select.POLLIN else self._host.outgoing
        poll = select.poll()
        poll.register(host, event)
        poll.register(self._awake, select.POLLIN)
        while True:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0:
                processes.leave(EXIT_DEADLINE)
            ready = dict(poll.poll(remaining * 1000 + 1))
            if self._awake in ready:
                processes.drain(self._awake)
                ended = processes.reap()
                if self._worker is not None:
                    self._worker.status = ended.get(self._worker.pid, self._worker.status)
            if host in ready:
                return


def warm_up() -> dict[str, str]:
    """Load and use what submissions will use, once; return the versions."""
    import numpy as np
    import numpy.random

    scores = numpy.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    np.einsum("bij,bjk->bik", np.exp(scores), scores) @ scores
    versions = {"python": sys.version.split()[0], "numpy": np.__version__, "torch": ""}
    if importlib.util.find_spec("torch") is not None:
        import torch

        # A pool of threads made here would be missing in the fork, which then waits for it.
        torch.set_num_threads(1)
        values = torch.from_numpy(scores)
        with torch.no_grad():
            torch.nn.Linear(4, 4)(torch.softmax(values @ values.transpose(1, 2), dim=-1))
        versions["torch"] = torch.__version__
    return versions


def main(arguments: list[str]) -> None:
    """Run as PID 1: ``arguments`` are the deadline in seconds and the cap of a reply's payload."""
    deadline = time.monotonic() + float(arguments[0])
    reply_cap = int(arguments[1]) if len(arguments) > 1 else REPLY_CAP
    wakeup_fd = processes.harden()
    host = Channel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    versions = warm_up()
    gc.collect()
    gc.freeze()  # so that a fork does not copy every page for the sake of reference cycles
    supervisor = Supervisor(host, wakeup_fd, deadline, reply_cap)
    os.set_blocking(host.outgoing, False)
    host.send(wire.pack({"id": "", "ready": versions}, magic=wire.SUPERVISOR))
    try:
        supervisor.serve()
    except processes.Unclean as left:
        print(f"takehome: {left}", file=sys.stderr)
        processes.leave(EXIT_UNCLEAN)
