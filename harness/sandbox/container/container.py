"""One container, from its creation to its removal."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import time
from collections.abc import Iterator
from typing import Any

import docker
import docker.errors

from harness import frames
from harness.errors import (
    CandidateError,
    SandboxBroken,
    SandboxUnavailable,
)
from harness.sandbox import replies
from harness.sandbox.base import Limits
from harness.sandbox.container import reaper
from harness.sandbox.container.ending import ContainerState, silence, why_ended
from harness.sandbox.container.engine import ENGINE_ERRORS
from harness.sandbox.container.hardening import USERS, create_arguments
from harness.sandbox.container.images import Image
from harness.sandbox.container.stream import Stream
from harness.sandbox.log import Log, LogFull
from harness.worker import wire

#: How long the supervisor's word that a deadline has passed may take to arrive.
GRACE_SECONDS = 2.0
_KILL_SECONDS = 10
_SPARE_SECONDS = 30


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSettings:
    """What every container of a sandbox has in common."""

    client: docker.DockerClient
    image: Image
    limits: Limits
    runtime: str | None

    @property
    def seconds(self) -> float:
        """How long a container may live: its supervisor leaves then, whatever happens."""
        limits = self.limits
        return (
            limits.start_seconds
            + 2 * (limits.import_seconds + limits.submission_seconds)
            + _SPARE_SECONDS
        )


class Container:
    """A running container and the stream to its supervisor."""

    def __init__(self, settings: ContainerSettings, log: Log) -> None:
        """Create and start a container, and wait until its supervisor is ready.

        Raises:
            SandboxUnavailable: the image or the runtime is not there.
            SandboxBroken: the engine failed, or the container did not come up.
        """
        self._settings = settings
        self._api = settings.client.api
        self.until = time.monotonic() + settings.seconds
        self.id = self._create()
        try:
            self._stream = self._attach(log)
            self._api.start(self.id)
            self._await_ready()
        except BaseException as error:
            self.end(quickly=False)
            if isinstance(error, ENGINE_ERRORS):
                raise self._not_started(error) from error
            raise

    def _create(self) -> str:
        settings = self._settings
        try:
            arguments = create_arguments(
                self._api,
                settings.image,
                settings.limits,
                user=secrets.choice(USERS),
                runtime=settings.runtime,
                seconds=settings.seconds,
                labels=reaper.labels(settings.seconds),
            )
            return str(self._api.create_container(**arguments)["Id"])
        except docker.errors.ImageNotFound as error:
            raise SandboxUnavailable(
                f"the image {settings.image.name} is gone from the engine; "
                "build it with `takehome image build`"
            ) from error
        except ENGINE_ERRORS as error:
            raise self._not_started(error) from error

    def _not_started(self, error: BaseException) -> SandboxBroken:
        runtime = self._settings.runtime
        if runtime is None:
            return SandboxBroken(f"the engine did not start a container: {error}")
        return SandboxUnavailable(
            f"the runtime is {runtime}, which does not start a container ({error}); "
            "`docker info` lists the runtimes"
        )

    def _attach(self, log: Log) -> Stream:
        # Before the start, so that nothing is missed. The engine is told to close standard
        # input when this connection goes.
        parameters = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._attached = self._api.attach_socket(self.id, params=parameters)
        return Stream(self._attached._sock, log, self._settings.limits.reply_bytes)

    def _await_ready(self) -> None:
        until = time.monotonic() + self._settings.limits.start_seconds
        try:
            magic, header, _ = wire.read(lambda n: self._stream.receive(n, until), 0)
        except (EOFError, TimeoutError, wire.WireError) as error:
            self._stream.drain(time.monotonic() + 0.2)
            raise SandboxBroken(
                f"the container did not come up ({type(error).__name__}): "
                f"{self._stream.log.text()[-500:] or 'it said nothing'}"
            ) from error
        if magic != wire.SUPERVISOR or "ready" not in header:
            raise SandboxBroken("the container's first frame is not the supervisor's")

    def record(self, log: Log) -> None:
        """Let what is printed from now on go to another log."""
        self._stream.log = log

    def ask(self, frame: bytes, seconds: float) -> tuple[dict[str, Any], memoryview]:
        """Send a frame and return the reply to it.

        Raises:
            replies.Ended: the process ended; the supervisor has cleaned up and serves on.
            CandidateError: likewise, but the container is no longer of use.
            SandboxBroken: the engine sent what it should not.
        """
        until = time.monotonic() + seconds + GRACE_SECONDS
        with self._named_failures(seconds):
            if self._stream.unasked():
                raise replies.unasked()
            self._stream.send(frame, until)
            return replies.read(
                lambda length: self._stream.receive(length, until),
                frames.request_id(frame),
                self._settings.limits,
                seconds,
            )

    @contextlib.contextmanager
    def _named_failures(self, seconds: float) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise silence(self._state(), seconds) from None
        except LogFull:
            raise replies.printed_too_much(self._settings.limits) from None
        except EOFError:
            self._stream.close()
            raise why_ended(self._state(_KILL_SECONDS), self._settings.limits) from None

    def _state(self, seconds: float = 0) -> ContainerState:
        """Ask the engine what became of the container, after at most ``seconds`` for its end.

        Raises:
            SandboxBroken: it does not say.
        """
        try:
            if seconds:
                self._api.wait(self.id, timeout=seconds)
            return ContainerState.read(self._api.inspect_container(self.id)["State"])
        except ENGINE_ERRORS as error:
            raise SandboxBroken(f"the engine lost a container: {error}") from error

    def drain_log(self, mark: bytes, seconds: float) -> None:
        """Take in what was printed, up to ``mark``.

        Raises:
            OutOfResources: it was more than the log takes.
        """
        with self._named_failures(seconds):
            self._stream.drain(time.monotonic() + seconds, mark)

    def end(self, *, quickly: bool) -> None:
        """Remove the container, whatever state it is in.

        First the socket: an engine that waits for us to read a flood answers nothing else
        (moby#41827). ``quickly`` leaves the kill to the removal.
        """
        if stream := getattr(self, "_stream", None):
            with contextlib.suppress(CandidateError, LogFull, SandboxBroken):
                stream.drain(time.monotonic())  # what was printed and has arrived
            stream.close()
        if attached := getattr(self, "_attached", None):
            with contextlib.suppress(OSError):
                attached.close()
        if not quickly:
            with contextlib.suppress(*ENGINE_ERRORS):  # 409: it has ended by itself
                self._api.kill(self.id)
            with contextlib.suppress(*ENGINE_ERRORS):
                self._api.wait(self.id, timeout=_KILL_SECONDS)
        with contextlib.suppress(*ENGINE_ERRORS):
            self._api.remove_container(self.id, force=True, v=True)
