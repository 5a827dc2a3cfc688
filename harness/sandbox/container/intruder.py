"""A submission that tries what a sandbox must not let it do, and tells how far it came.

``takehome doctor`` loads it as it would a candidate's file. It runs inside the sandbox, knows
nothing of the harness, and stops a little beyond each limit by itself, so that a sandbox
that does not hold costs the machine nothing.
"""

import os
import signal
import socket
import time

CHUNK = 1 << 20
FAMILIES = ("INET", "INET6", "NETLINK", "PACKET", "VSOCK", "ALG", "BLUETOOTH", "CAN", "TIPC")
FOLDERS = ("/", "/etc", "/opt", "/opt/takehome", "/usr", "/var/tmp", "/dev")


def identity() -> tuple[int, int]:
    """Return user and group id."""
    return os.getuid(), os.getgid()


def status(field: str) -> str:
    """Return a field of /proc/self/status."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return line.split(":", 1)[1].strip()
    return "(absent)"


def capabilities() -> tuple[str, str, str]:
    """Return the effective, permitted and bounding sets, in hexadecimal."""
    return status("CapEff"), status("CapPrm"), status("CapBnd")


def fork_until_refused(most: int) -> int:
    """Return how many processes can be started beside this one."""
    children: list[int] = []
    try:
        while len(children) < most:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)


def take_memory(size: int) -> int:
    """Use ``size`` bytes of memory and return their number."""
    return len(b"\1" * size)


def fill(folder: str, most: int) -> int:
    """Return how many bytes can be written to files in ``folder``."""
    written, number = 0, 0
    try:
        while written < most:
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                written += sum(file.write(bytes(CHUNK)) for _ in range(8))
            number += 1
    except OSError:
        pass
    return sum(entry.stat().st_size for entry in os.scandir(folder))


def fill_with_names(folder: str, most: int) -> int:
    """Return how many empty files ``folder`` takes."""
    try:
        for number in range(most):
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
    except OSError:
        return number
    return most


def root_flags() -> int:
    """Return the mount flags of the root file system."""
    return os.statvfs("/").f_flag


def writable_folders() -> str:
    """Return the names of the folders outside the scratch space that take a file."""
    found = []
    for folder in FOLDERS:
        try:
            os.close(os.open(f"{folder}/intruder", os.O_CREAT | os.O_WRONLY))
            found.append(folder)
        except OSError:
            pass
    return " ".join(found)


def interfaces() -> str:
    """Return the names of the network interfaces."""
    with open("/proc/net/dev") as file:
        return " ".join(sorted(line.split(":")[0].strip() for line in file if ":" in line))


def socket_families() -> str:
    """Return the families, other than Unix, of which a socket can be made."""
    found = []
    for family in FAMILIES:
        number = getattr(socket, f"AF_{family}", -1)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(number, kind).close()
            except OSError:
                continue
            found.append(family)
            break
    return " ".join(found)


def leave_a_spinner() -> int:
    """Leave a process that ignores every signal it can and never rests."""
    child = os.fork()
    if child == 0:
        os.setsid()
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            pass
    time.sleep(0.1)  # until it ignores them
    return child


def flood() -> None:
    """Print without end."""
    line = b"x" * 65535 + b"\n"
    while True:
        os.write(1, line)
