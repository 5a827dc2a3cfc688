"""Whose a container is, and the removal of those whose harness is gone."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path

from docker import DockerClient

from harness.sandbox.container.engine import ENGINE_ERRORS

HOST_LABEL = "takehome.host"  #: machine and PID namespace
BOOT_LABEL = "takehome.boot"
PROCESS_LABEL = "takehome.process"  #: pid, and when it started: pids are used again
DEADLINE_LABEL = "takehome.deadline"  #: seconds since the epoch
#: A container leaves at its deadline by itself; what is there this long after is stuck.
_OVERDUE_SECONDS = 60


def labels(seconds: float) -> dict[str, str]:
    """Return the labels of a container that this process makes now, to live for ``seconds``."""
    return {
        HOST_LABEL: _host(),
        BOOT_LABEL: _read("/proc/sys/kernel/random/boot_id"),
        PROCESS_LABEL: _process(os.getpid()),
        DEADLINE_LABEL: str(int(time.time() + seconds)),
    }


def reap(client: DockerClient) -> int:
    """Remove the containers whose harness is gone, and return how many there were.

    Raises:
        docker.errors.DockerException: the engine does not answer.
    """
    count = 0
    for found in client.api.containers(all=True, filters={"label": DEADLINE_LABEL}):
        if is_abandoned(found["Labels"]):
            # It may be gone by now: another harness may be reaping as well.
            with contextlib.suppress(*ENGINE_ERRORS):
                client.api.remove_container(found["Id"], force=True, v=True)
                count += 1
    return count


def is_abandoned(found: Mapping[str, str]) -> bool:
    """Tell from its labels whether the harness that made a container is gone."""
    deadline = found.get(DEADLINE_LABEL, "")
    if not deadline.isdecimal() or time.time() > int(deadline) + _OVERDUE_SECONDS:
        return True
    if found.get(HOST_LABEL) != _host():
        return False  # its process cannot be seen from here
    if found.get(BOOT_LABEL) != _read("/proc/sys/kernel/random/boot_id"):
        return True
    process = found.get(PROCESS_LABEL, "")
    return process != _process(int(process.partition(".")[0] or 0))


def _host() -> str:
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{platform.node()} {namespace}".strip()


def _process(pid: int) -> str:
    """Return a name for a running process that no other ever has, or "" when it is gone."""
    if os.path.isdir("/proc/self"):
        # The name in parentheses may hold spaces; the start time is the 20th field after it.
        status = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return f"{pid}.{status[19]}" if status and status[0] != "Z" else ""
    try:
        os.kill(pid, 0)
    except OSError:
        return ""
    return f"{pid}."


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
