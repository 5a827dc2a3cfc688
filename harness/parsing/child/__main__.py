"""Answer requests, one JSON line each, until stdin ends; anything unexpected ends the process."""

import contextlib
import importlib
import json
import signal
import sys
import time
from typing import Any

MEMORY_BYTES = 1 << 30  #: address space; an 8 MiB notebook of small outputs needs about a fifth
OPEN_FILES = 64  #: pipes, and modules while they are imported


def limit_process() -> None:
    """Cap what a parser gone wrong can take, where the system has limits (not on Windows)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The harness decides when this ends.
    with contextlib.suppress(ImportError):
        import resource

        for kind, value in (
            ("RLIMIT_AS", MEMORY_BYTES),
            ("RLIMIT_CORE", 0),
            ("RLIMIT_FSIZE", 0),
            ("RLIMIT_NOFILE", OPEN_FILES),
            ("RLIMIT_NPROC", 0),
        ):
            # macOS knows RLIMIT_AS and refuses to set it.
            with contextlib.suppress(ValueError, OSError, AttributeError):
                resource.setrlimit(getattr(resource, kind), (value, value))


def limit_request(seconds: float) -> None:
    """Let the kernel end a request that outlives its deadline, in case the harness is gone."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 2, hard))


def answer(line: bytes) -> Any:
    """Run one request: ``{"operation", "arguments", "seconds"}``."""
    request = json.loads(line)
    limit_request(request["seconds"])
    return importlib.import_module(request["operation"]).run(request["arguments"])


if __name__ == "__main__":
    limit_process()
    sys.stdout.buffer.write(b"\n")  # Ready.
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        reply = json.dumps(answer(line), allow_nan=False).encode("ascii")
        sys.stdout.buffer.write(reply + b"\n")
        sys.stdout.buffer.flush()
