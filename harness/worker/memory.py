"""How much memory another process has: read from outside, so that it has no say in it."""

from __future__ import annotations


def read(pid: int) -> dict[str, int] | None:
    """Return resident bytes ``now`` and their ``peak``, and let the peak begin anew.

    Linux alone says so, in ``/proc/PID/status`` (proc(5): VmRSS, VmHWM; in KiB), and alone can
    begin anew (5 in ``clear_refs``). None elsewhere, and for a process that hides.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        reading = {"now": _bytes(lines["VmRSS"]), "peak": _bytes(lines["VmHWM"])}
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except (OSError, KeyError, ValueError, IndexError):
        return None
    return reading


def _bytes(kibibytes: str) -> int:
    return int(kibibytes.split()[0]) << 10
