"""How much memory a submission holds: read from outside, so that it has no say in it."""

from __future__ import annotations

import os
from collections.abc import Sequence


def read(folders: Sequence[str]) -> dict[str, int] | None:
    """Return the bytes ``now`` and their ``peak``, and let the peak begin anew.

    They are those of all processes of the sandbox but this one, and of the files in ``folders``,
    which are in memory. None where a process hides, or the system does not say.
    """
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    readings = [_of_process(name) for name in others]
    if not all(readings):
        return None
    files = sum(_of_folder(folder) for folder in folders)
    return {word: files + sum(one[word] for one in readings if one) for word in ("now", "peak")}


def _of_folder(folder: str) -> int:
    system = os.statvfs(folder)
    return (system.f_blocks - system.f_bfree) * system.f_frsize


def _of_process(pid: str) -> dict[str, int] | None:
    """Read ``/proc/PID/status`` (proc(5): VmRSS, VmHWM; in KiB), and write 5 to ``clear_refs``.

    A process that has ended, and that nobody has waited for, has neither line, and no memory.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        reading = {"now": _bytes(lines.get("VmRSS", "0")), "peak": _bytes(lines.get("VmHWM", "0"))}
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except (OSError, ValueError, IndexError):
        return None
    return reading


def _bytes(kibibytes: str) -> int:
    return int(kibibytes.split()[0]) << 10
