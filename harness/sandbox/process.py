"""The sandbox for a candidate's own code: a plain child process. It does not isolate anything."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import frames
from harness.errors import (
    CandidateCrashed,
    CandidateError,
    CandidateTimedOut,
    ProtocolViolation,
    SandboxBroken,
    UsageError,
)
from harness.results import Environment
from harness.sandbox import replies
from harness.sandbox.base import MEMORY, Frame, Limits, Sandbox, describe
from harness.sandbox.log import Log
from harness.sandbox.pipes import Pipes
from harness.threads import ONE_THREAD
from harness.worker import direct, loader, wire

_END_SECONDS = 5.0
_STREAM_SECONDS = 0.5


class ProcessSandbox(Sandbox):
    """Runs a submission in a child of this interpreter, with a deadline and little else.

    Never for code of others: it can read and write what the user can.
    """

    guarantees = frozenset({MEMORY}) if sys.platform == "linux" else frozenset()

    def __init__(self, *, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._child: _Child | None = None
        self._log = Log(self._limits)

    @property
    def environment(self) -> Environment:
        """What the submissions run in: this interpreter."""
        versions = {"python": platform.python_version()}
        for name in ("numpy", "torch"):
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                versions[name] = importlib.metadata.version(name)
        return describe(self._limits, versions, sandbox="process", isolated=False)

    def start(self, load: bytes, seconds: float) -> Frame:
        """Give a LOAD frame to a new process and return its reply."""
        until = time.monotonic() + seconds
        try:
            return self._begin(load, "", seconds * loader.WHOLE_SHARE)
        except ProtocolViolation:
            raise
        except CandidateError as error:
            how = "timed_out" if isinstance(error, CandidateTimedOut) else "crashed"
            because = loader.why_not_whole(how, str(error), seconds)
            return self._begin(load, because, max(1.0, until - time.monotonic()))

    def _begin(self, load: bytes, because: str, seconds: float) -> Frame:
        self._end()
        self._child = child = _Child(self._limits, self._log, because)
        with self._ending(child):
            child.send(load)
            child.await_ready(self._limits.start_seconds)
            return child.reply(frames.request_id(load), seconds)

    def call(self, frame: bytes, seconds: float) -> Frame:
        """Send one frame and return the reply to it."""
        if self._child is None:
            raise CandidateCrashed("its process has ended")
        with self._ending(self._child) as child:
            child.send(frame)
            return child.reply(frames.request_id(frame), seconds)

    @contextlib.contextmanager
    def _ending(self, child: _Child) -> Iterator[_Child]:
        try:
            yield child
        except BaseException:
            self._end()
            raise

    def log(self) -> str:
        """End the submission and return what it printed."""
        self._end()
        text, self._log = self._log.text(), Log(self._limits)
        return text

    def close(self) -> None:
        """End the process and remove its folder."""
        self._end()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


class _Child:
    """One process that serves one submission, in a process group and a folder of its own."""

    def __init__(self, limits: Limits, log: Log, because: str) -> None:
        self._limits = limits
        self._folder = tempfile.TemporaryDirectory(prefix="takehome-", ignore_cleanup_errors=True)
        command = [sys.executable, "-P", "-B", "-c", direct.BOOT]
        command += [str(Path(direct.__file__).parents[1])]
        command += [str(limits.reply_bytes), str(limits.memory_bytes), because]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder.name,
                env=os.environ | ONE_THREAD,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            self._folder.cleanup()
            raise SandboxBroken(f"{sys.executable} does not start: {error}") from error
        self._pipes = Pipes(self._process, log)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, frame: bytes) -> None:
        if self._pipes.unasked():
            raise replies.unasked()
        self._pipes.send(frame)

    def await_ready(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        try:
            wire.read(lambda length: self._pipes.receive(length, until), 0)
        except (EOFError, TimeoutError, wire.WireError) as error:
            raise SandboxBroken(
                f"the process did not come up ({type(error).__name__}), expected it within "
                f"{seconds:g} s; see whether `{sys.executable} -c 'import numpy'` works"
            ) from error

    def reply(self, asked: str, seconds: float) -> Frame:
        until = time.monotonic() + seconds
        try:
            header, payload = replies.read(
                lambda length: self._pipes.receive(length, until), asked, self._limits, seconds
            )
            return replies.frame(header, payload)
        except replies.Ended as ended:  # nobody but the submission can have sent this
            raise ProtocolViolation("its reply is not an answer") from ended
        except TimeoutError:
            raise CandidateTimedOut(f"it did not answer within {seconds:g} s") from None
        except EOFError:
            raise self._why_gone() from None
        finally:
            if self._pipes.flooded:
                raise replies.printed_too_much(self._limits)

    def _why_gone(self) -> CandidateError:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            detail = "it closed its streams"
        else:
            detail = f"exit status {code}"
            if code < 0:
                detail = f"signal {-code} ({signal.strsignal(-code)})"
        return replies.how_it_ended("crashed", detail, self._limits, 0)

    def end(self) -> None:
        if hasattr(os, "killpg") and hasattr(signal, "SIGKILL"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif sys.platform == "win32" and self._process.poll() is None:
            subprocess.run(
                ["taskkill", "/F", "/T", "/PID", str(self._process.pid)],
                capture_output=True,
                check=False,
            )
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._pipes.close(_STREAM_SECONDS)
        self._folder.cleanup()


def opener(
    image: str, limits: Limits, *, runtime: str | None, report: Callable[[str], None]
) -> Callable[[], Sandbox]:
    """Return a function that opens a sandbox in the interpreter of the harness.

    Raises:
        UsageError: a runtime is asked for, which a process has not.
    """
    if runtime:
        raise UsageError("--runtime goes with --sandbox container")
    return lambda: ProcessSandbox(limits=limits)
