"""Serves one submission with no supervisor: the child of the process sandbox.

Started as ``python -c BOOT FOLDER REPLY_BYTES MEMORY_BYTES BECAUSE``. The harness keeps the
deadlines; should it be killed, a watchdog in here ends this process soon after the deadline,
even inside C code.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import platform
import sys
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.random

from . import session, wire
from .channel import Channel

#: What ``python -c`` runs. FOLDER holds this package and is not for submissions to import.
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from worker import direct; direct.main()"
WATCHDOG_SECONDS = 2.0


class WatchedChannel(Channel):
    """A channel that says when it is ready, and ends the process when an exchange is overdue."""

    def __init__(self, incoming: int, outgoing: int, memory: int, overdue: TextIO) -> None:
        super().__init__(incoming, outgoing)
        self._memory = memory
        self._overdue = overdue

    def read(self) -> tuple[dict[str, Any], memoryview]:
        """Return the next frame, and start the watchdog."""
        header, payload = super().read()
        if header["op"] == "load":
            if header["arrays"] == "torch":
                importlib.import_module("torch")
            _limit_memory(self._memory)
            versions = {"python": platform.python_version(), "numpy": np.__version__}
            self.send(wire.pack({"id": "", "ready": versions}, magic=wire.SUPERVISOR))
        seconds = header["seconds"] + WATCHDOG_SECONDS
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._overdue)
        return header, payload

    def write(self, header: dict[str, Any], blobs: Any = ()) -> None:
        """Send a frame, and stop the watchdog."""
        super().write(header, blobs)
        faulthandler.cancel_dump_traceback_later()


def _limit_memory(allowance: int) -> None:
    """Let this process have ``allowance`` bytes more than it has now, where the system can."""
    if sys.platform != "linux":
        return
    import resource

    # Private writable memory; the address space would be no measure, torch reserves gigabytes.
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    used = int(status.partition("VmData:")[2].split()[0]) << 10
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = used + allowance
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def main() -> None:
    """Serve frames on standard input and output until they are closed."""
    del sys.path[0]
    reply_cap, memory, because = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    sys.argv[:] = [""]
    numpy.random.default_rng()
    incoming, outgoing = _take_standard_streams()
    with open(os.devnull, "w", encoding="ascii") as overdue:
        channel = WatchedChannel(incoming, outgoing, memory, overdue)
        session.serve(channel, reply_cap, definitions_because=because)
    sys.stdout.flush()
    os._exit(0)


def _take_standard_streams() -> tuple[int, int]:
    """Keep the frames for ourselves: what is printed goes to standard error, input is empty."""
    session.print_by_line()
    incoming, outgoing = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (incoming, outgoing):
            msvcrt.setmode(descriptor, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing
