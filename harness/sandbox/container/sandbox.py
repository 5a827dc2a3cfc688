"""The sandbox for code that nobody trusts: a container of a Docker engine."""

from __future__ import annotations

import secrets
import time

import docker

from harness.errors import CandidateCrashed, CandidateError, SandboxBroken
from harness.results import Environment
from harness.sandbox import replies
from harness.sandbox.base import ISOLATED, Frame, Limits, Memory, Sandbox, describe
from harness.sandbox.container.container import Container, ContainerSettings
from harness.sandbox.container.images import Image
from harness.sandbox.log import Log
from harness.worker import wire

_END_SECONDS = 5.0
_LOG_SECONDS = 1.0


class ContainerSandbox(Sandbox):
    """Runs submissions in a container; one that broke is replaced at the next ``start``."""

    guarantees = ISOLATED

    def __init__(
        self,
        *,
        client: docker.DockerClient,
        image: Image,
        limits: Limits | None = None,
        runtime: str | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._settings = ContainerSettings(
            client=client, image=image, limits=self._limits, runtime=runtime
        )
        self._container: Container | None = None
        self._begun = False  #: a submission was started and its log not yet taken
        self._loaded = False  #: its process runs
        self._tainted = False
        self._log = Log(self._limits)

    @property
    def environment(self) -> Environment:
        """What the submissions run in."""
        image = self._settings.image
        return describe(
            self._limits,
            image.versions,
            sandbox="container",
            isolated=True,
            image=image.id,
            runtime=self._settings.runtime or "default",
        )

    @property
    def tainted(self) -> bool:
        """Whether there was a timeout, a kill, a violation, or something left behind.

        A worn sandbox serves its submission to the end, and should not serve another.
        """
        return self._tainted

    def start(self, load: bytes, seconds: float) -> Frame:
        """Give a LOAD frame to a pristine process and return its reply."""
        self._finish()
        submission = self._limits.import_seconds + self._limits.submission_seconds
        if self._container is not None and self._container.until - time.monotonic() < submission:
            self._end()
        if self._container is None:
            self._container = Container(self._settings, self._log)
        self._begun = self._loaded = True
        return self._exchange(self._container, load, seconds)

    def call(self, frame: bytes, seconds: float) -> Frame:
        """Send one frame and return the reply to it."""
        if self._container is None or not self._loaded:
            raise CandidateCrashed("its process has ended")
        return self._exchange(self._container, frame, seconds)

    def memory(self) -> Memory | None:
        """Ask the supervisor how much memory the submission's process has."""
        frame = wire.pack({"op": "memory", "id": secrets.token_hex(16)})
        return replies.memory(self.call(frame, _END_SECONDS).header.get("memory"))

    def _exchange(self, life: Container, frame: bytes, seconds: float) -> Frame:
        try:
            header, payload = life.ask(frame, seconds)
            return replies.frame(header, payload)
        except replies.Ended as ended:
            self._tainted, self._loaded = True, False
            raise ended.error from None
        except (CandidateError, SandboxBroken):
            self._tainted = True
            self._end()
            raise

    def _finish(self) -> None:
        """End the submission; the container serves on if nothing of it is left."""
        if self._container is None or not self._begun:
            return
        self._begun = self._loaded = False
        identifier = secrets.token_hex(16)
        frame = wire.pack({"op": "end", "id": identifier})
        try:
            header, _ = self._container.ask(frame, _END_SECONDS)
            self._container.drain_log(wire.log_mark(identifier), _LOG_SECONDS)
            self._tainted |= header.get("leftovers") != 0
        except replies.Ended:
            self._tainted = True
        except (CandidateError, SandboxBroken):
            self._tainted = True
            self._end()

    def log(self) -> str:
        """End the submission and return what it printed."""
        self._finish()
        text, self._log = self._log.text(), Log(self._limits)
        if self._container is not None:
            self._container.record(self._log)
        return text

    def close(self) -> None:
        """Remove the container."""
        self._end()

    def _end(self) -> None:
        life, self._container, self._loaded = self._container, None, False
        if life is not None:
            life.end(quickly=not self._tainted)
