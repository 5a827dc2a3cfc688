"""A container for one candidate's own tests; it serves nothing else and is thrown away."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import docker
import msgspec

from harness import frames
from harness.errors import CandidateCrashed, CandidateError, CandidateTimedOut
from harness.sandbox import replies
from harness.sandbox.base import Limits
from harness.sandbox.container.container import Container, ContainerSettings
from harness.sandbox.container.engine import connect, require_runtime
from harness.sandbox.container.images import Image, ensure_image
from harness.sandbox.log import Log
from harness.sandbox.own_tests import OwnTestsReport

_REPORT_BYTES = 1 << 20
_FILES_SECONDS = 5.0


class OwnTestsContainer:
    """Runs the tests that it was given, once per program."""

    def __init__(
        self,
        *,
        client: docker.DockerClient,
        image: Image,
        limits: Limits,
        runtime: str | None,
        seconds: float,
    ) -> None:
        """Start a container for ``seconds`` of work.

        Raises:
            SandboxBroken: the engine failed, or the container did not come up.
        """
        own = dataclasses.replace(
            limits, import_seconds=0, submission_seconds=seconds, reply_bytes=_REPORT_BYTES
        )
        settings = ContainerSettings(client=client, image=image, limits=own, runtime=runtime)
        self._container = Container(settings, Log(own))
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.end(quickly=False)

    def give(self, files: Mapping[str, bytes]) -> None:
        """Hand over the files of the candidate."""
        entries = [{"name": name, "size": len(data)} for name, data in files.items()]
        self._ask({"op": "files", "files": entries}, [*files.values()], _FILES_SECONDS)

    def run(
        self,
        text: str,
        names: Sequence[str],
        *,
        entry: str,
        only: Sequence[str] | None,
        seconds: float,
    ) -> OwnTestsReport:
        """Run the tests, or only some, as ``OwnTestsRunner`` says."""
        wanted = {"text": text, "names": names, "entry": entry, "only": only}
        header = {"op": "run", "seconds": seconds}
        how, report = self._ask(header, [msgspec.json.encode(wanted)], seconds)
        if how == "timed_out":
            raise CandidateTimedOut(f"the tests did not end within {seconds:g} s")
        try:
            return msgspec.json.decode(report, type=OwnTestsReport)
        except (msgspec.DecodeError, RecursionError):
            raise CandidateCrashed("the tests ended without a report") from None

    def _ask(
        self, header: dict[str, object], blobs: Sequence[bytes], seconds: float
    ) -> tuple[object, memoryview]:
        if self._ended:
            raise CandidateCrashed("the tests ended what they ran in")
        frame = frames.pack({**header, "id": secrets.token_hex(16)}, blobs)
        try:
            reply, payload = self._container.ask(frame, seconds)
        except (CandidateError, replies.Ended):
            self._ended = True
            raise CandidateCrashed("the tests ended what they ran in") from None
        return reply.get("how"), payload


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OwnTestsImage:
    """An image with pytest, of which containers for tests are made."""

    client: docker.DockerClient
    image: Image
    limits: Limits
    runtime: str | None

    def open(self, seconds: float) -> OwnTestsContainer:
        """Start a container for ``seconds`` of work; raises as ``OwnTestsContainer`` does."""
        return OwnTestsContainer(
            client=self.client,
            image=self.image,
            limits=self.limits,
            runtime=self.runtime,
            seconds=seconds,
        )


def prepare_test_image(
    name: str,
    limits: Limits,
    *,
    runtime: str | None,
    report: Callable[[str], None] = lambda line: None,
) -> OwnTestsImage:
    """Return the image for tests that goes with the image "numpy" or "torch", built if need be.

    Raises:
        SandboxUnavailable: no engine answers, it has no such runtime, or it cannot be built.
    """
    client = connect()
    require_runtime(client, runtime)
    image = ensure_image(client, f"takehome-{name}-tests", report=report)
    return OwnTestsImage(client=client, image=image, limits=limits, runtime=runtime)
