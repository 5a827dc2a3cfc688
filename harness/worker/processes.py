"""What the supervisor does to itself and to processes: harden, start, kill, reap, wipe, compare.

Everything here assumes to be PID 1 of a PID namespace of its own: ``kill(-1)`` reaches every
other process there, and nothing outside.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import select
import signal
import stat
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

SCRATCH = ("/tmp", "/dev/shm")
#: After this long, processes that do not die are left to the end of the container.
KILL_SECONDS = 5.0
_PR_SET_DUMPABLE = 4
_F_SETPIPE_SZ, _F_GETPIPE_SZ = 1031, 1032  #: fcntl.h of Linux
#: cgroup v1 and v2: the line "oom_kill N" counts the kernel's kills in this container.
_OOM_COUNTERS = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")


class Unclean(RuntimeError):
    """Something of a submission would not go away; this container must end."""


def harden() -> int:
    """Make this process untouchable; return a descriptor that becomes readable on SIGCHLD.

    Not dumpable: no ptrace, no ``/proc/1/mem``. Every signal is ignored but SIGCHLD: were that
    ignored too, the kernel would reap the children and their status would be lost.
    """
    _prctl(_PR_SET_DUMPABLE, 0)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        _dispose(number, signal.SIG_IGN)
    wakeup_fd, wake = os.pipe()
    os.set_blocking(wakeup_fd, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return wakeup_fd


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None).prctl(option, value, 0, 0, 0):
        raise OSError(f"prctl({option}, {value}) failed")


def _dispose(number: int, disposition: Any) -> None:
    with contextlib.suppress(OSError, ValueError):  # glibc keeps two signals for itself
        signal.signal(number, disposition)


def start(body: Callable[[], None], close: list[int]) -> int:
    """Fork a process that runs ``body``, with ordinary signals and without ``close``.

    Returns its pid.
    """
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.close(signal.set_wakeup_fd(-1))
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            _dispose(number, signal.SIG_DFL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)  # Python's own defaults
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in close:
            os.close(descriptor)
        _prctl(_PR_SET_DUMPABLE, 1)
        _be_first_to_go()
        os.setsid()
        body()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _be_first_to_go() -> None:
    """When memory runs out, the kernel takes this process before the supervisor."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def reap() -> dict[int, int]:
    """Collect every process that has ended: pid -> wait status."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def kill_everything(wakeup_fd: int) -> dict[int, int]:
    """Kill and reap every other process; return what they ended with.

    Raises:
        Unclean: some are still there after ``KILL_SECONDS``.
    """
    ended: dict[int, int] = {}
    until = time.monotonic() + KILL_SECONDS
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            ended |= reap()
            return ended
        if reaped := reap():
            ended |= reaped
            continue  # perhaps that was the last
        if time.monotonic() > until:
            raise Unclean("processes that do not die")
        select.select([wakeup_fd], [], [], 0.01)
        drain(wakeup_fd)


def drain(wakeup_fd: int) -> None:
    """Forget the wake-ups so far."""
    with contextlib.suppress(BlockingIOError):
        while os.read(wakeup_fd, 4096):
            pass


class SharedState:
    """What a submission shares with the next: its folders, and the pipe of standard error.

    A submission is of the same user as the supervisor, so that it may set the permissions and
    times of both, and the size of the pipe. All of it is set again to what it was at the start.
    """

    def __init__(self) -> None:
        self._modes = {place: _mode(place) for place in (*SCRATCH, 2)}
        self._pipe_size = _pipe_size()

    def restore(self) -> int:
        """Empty the folders and renew all attributes; return how much a submission had left.

        Raises:
            Unclean: something could not be removed or set.
        """
        try:
            count = sum(_restore_mode(place, mode) for place, mode in self._modes.items())
            count += sum(_empty(folder) for folder in SCRATCH)
            for place in self._modes:
                _restore_times(place)
            if _pipe_size() != self._pipe_size:
                fcntl.fcntl(2, _F_SETPIPE_SZ, self._pipe_size)
                count += 1
        except OSError as error:
            raise Unclean(f"what cannot be removed or set: {error.strerror}") from None
        return count


def _mode(place: str | int) -> int:
    return stat.S_IMODE(os.stat(place).st_mode)


def _pipe_size() -> int:
    """Return the capacity of standard error, 0 where it is no pipe (gVisor's is not)."""
    with contextlib.suppress(OSError):
        return fcntl.fcntl(2, _F_GETPIPE_SZ)
    return 0


def _restore_mode(place: str | int, mode: int) -> int:
    changed = _mode(place) != mode
    if changed:
        os.chmod(place, mode)
    return changed


def _restore_times(place: str | int) -> None:
    """Set the times, which can tell 128 bits. Any use changes them: that is nothing left."""
    with contextlib.suppress(PermissionError):  # another user's pipe: a submission cannot, either
        os.utime(place, (0, 0))


def _empty(folder: str) -> int:
    count = 0
    for entry in list(os.scandir(folder)):
        count += 1
        if entry.is_dir(follow_symlinks=False):
            _remove_tree(entry.path)
        else:
            os.unlink(entry.path)
    if os.listdir(folder):
        raise Unclean(f"files in {folder} that come back")
    return count


def _remove_tree(path: str) -> None:
    import shutil  # it loads every archive format: not at the start of each container

    try:
        os.chmod(path, 0o700)
        shutil.rmtree(path)
    except (OSError, RecursionError) as error:
        # Deeper, unreadable or longer than a path may be: not worth a clever walk.
        raise Unclean(f"files that cannot be removed: {type(error).__name__}") from None


def own_state() -> tuple[object, ...]:
    """Return what a submission of the same uid might have changed about this process."""
    limits = [value for name, value in sorted(vars(resource).items()) if name.startswith("RLIMIT")]
    return (
        tuple(resource.getrlimit(number) for number in limits),
        frozenset(os.sched_getaffinity(0)),
        os.sched_getscheduler(0),
        os.getpriority(os.PRIO_PROCESS, 0),
    )


def open_streams_anew() -> None:
    """Give this process descriptions of its own of the standard streams.

    An inherited one is shared with every other submission: whether it blocks, who is signalled
    and with what, and its offset.
    """
    for path, flags, descriptor in (
        (os.devnull, os.O_RDONLY, 0),
        ("/proc/self/fd/2", os.O_WRONLY, 2),
    ):
        with contextlib.suppress(PermissionError):  # a runtime may keep the pipe to itself
            anew = os.open(path, flags)
            os.dup2(anew, descriptor)
            os.close(anew)
    os.dup2(2, 1)


def oom_kills() -> int | None:
    """Return how often the kernel killed for memory here, or None when it does not say."""
    for path in _OOM_COUNTERS:
        try:
            with open(path) as file:
                for line in file:
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
        except OSError:
            continue
    return None


def leave(code: int) -> NoReturn:
    """End this process, and with it every other one in the container."""
    sys.stderr.flush()
    os._exit(code)
