"""Where the jobs of a batch run: processes of this machine, as a `concurrent.futures.Executor`."""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any

Close = Callable[[], None]


class LocalProcesses(Executor):
    """A pool of processes that is made anew when one of them has died.

    When the pool is stopped, or this process is gone, however it ended, each job calls ``close``
    and leaves. They do not heed the interrupts of a terminal: those are for this process.
    """

    def __init__(self, jobs: int, *, preload: Sequence[str] = (), close: Close) -> None:
        """Prepare a pool of ``jobs``; the modules ``preload`` are imported once, for all."""
        self._jobs = jobs
        self._close = close
        # A fork of this process would copy its threads' locks; a fork server has no threads.
        methods = multiprocessing.get_all_start_methods()
        method = "forkserver" if "forkserver" in methods else "spawn"
        self._context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            self._context.set_forkserver_preload(list(preload))
        self._pool: ProcessPoolExecutor | None = None
        self._alive: tuple[Connection, ...] = ()  #: both ends

    def submit(self, work: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        """Run ``work`` in one of the processes.

        The future raises `BrokenExecutor` when a process of the pool died meanwhile.
        """
        if self._pool is not None:
            try:
                return self._pool.submit(work, *args, **keywords)
            except BrokenProcessPool:
                self.shutdown()
        self._pool = self._open()
        return self._pool.submit(work, *args, **keywords)

    def _open(self) -> ProcessPoolExecutor:
        # Nobody writes: the reading end sees the end when this process is gone.
        self._alive = reading, _ = self._context.Pipe(duplex=False)
        return ProcessPoolExecutor(
            self._jobs, self._context, initializer=_begin, initargs=(reading, self._close)
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes after what they are doing; with ``cancel_futures`` at once."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        reading, writing = self._alive
        if cancel_futures:
            writing.close()
        pool.shutdown(wait, cancel_futures=cancel_futures)
        writing.close()
        reading.close()


def _begin(alive: Connection, close: Close) -> None:
    """Prepare a process of the pool."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_leave_with, args=(alive, close), daemon=True).start()
    multiprocessing.util.Finalize(None, close, exitpriority=0)


def _leave_with(alive: Connection, close: Close) -> None:
    """Leave as soon as the other end is closed."""
    try:
        alive.recv_bytes()
    except (EOFError, OSError):
        try:
            close()
        finally:
            os._exit(1)
