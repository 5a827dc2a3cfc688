from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import docker
import numpy as np
import pytest

from harness.protocol import Answer, Call, Step, decode, encode
from harness.sandbox import SANDBOXES, Frame, Limits, Sandbox, opener
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import Image, ensure_image
from harness.sandbox.container.sandbox import ContainerSandbox
from harness.worker import wire

#: Short deadlines, and small caps that are quickly reached.
LIMITS = Limits(
    import_seconds=4.0,
    exchange_seconds=1.0,
    memory_bytes=256 << 20,
    reply_bytes=4 << 20,
    log_bytes=1 << 20,
)

#: Every sandbox that there is, so that the conformance suite runs over a new one, too.
BACKENDS = [
    pytest.param(name, marks=[pytest.mark.docker] if name == "container" else [])
    for name in SANDBOXES
]


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.DockerClient]:
    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="session")
def image(engine: docker.DockerClient) -> Image:
    return ensure_image(engine, "takehome-numpy")


class Driver:
    """Talks to a sandbox as a grading does."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def load(self, source: str, seconds: float = LIMITS.import_seconds, **fields: Any) -> Frame:
        data = source.encode()
        header = {
            "op": "load",
            "id": secrets.token_hex(16),
            "seconds": seconds,
            "arrays": "numpy",
            "origin": "script",
            "blocked": False,
            "entry": "answer.py",
            "files": [{"name": "answer.py", "size": len(data)}],
        }
        return self.sandbox.start(wire.pack(header | fields, [data]), seconds)

    def run(self, steps: Sequence[Step], seconds: float = LIMITS.exchange_seconds) -> list[Answer]:
        entries, blobs = encode(steps)
        header = {"op": "run", "id": secrets.token_hex(16), "seconds": seconds, "steps": entries}
        reply = self.sandbox.call(wire.pack(header, blobs), seconds)
        return decode(reply.header, reply.payload, len(steps))

    def call(self, name: str, *arguments: Any, seconds: float = LIMITS.exchange_seconds) -> Answer:
        (answer,) = self.run([Call(name=name, arguments=arguments)], seconds)
        return answer

    def value(self, name: str, *arguments: Any) -> Any:
        """What a call returned, when that is one plain value or array."""
        answer = self.call(name, *arguments)
        if answer.raised is not None:
            raise answer.raised
        (out,) = answer.outs
        return getattr(out, "values", out)


@pytest.fixture(params=BACKENDS, scope="module")
def shared_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One sandbox of each backend in turn; it mends itself, so that a module can share it."""
    sandbox = opener(request.param, "numpy", limits=LIMITS)()
    yield sandbox
    sandbox.close()


@pytest.fixture
def submission(shared_sandbox: Sandbox) -> Iterator[Driver]:
    """A driver of a sandbox with short deadlines, over each backend in turn."""
    yield Driver(shared_sandbox)
    shared_sandbox.log()


@pytest.fixture
def contained(engine: docker.DockerClient, image: Image) -> Iterator[Driver]:
    """A driver of a container of its own."""
    sandbox = ContainerSandbox(client=engine, image=image, limits=LIMITS)
    yield Driver(sandbox)
    sandbox.close()


@pytest.fixture
def queries() -> np.ndarray[Any, Any]:
    return np.random.default_rng(7).normal(size=(2, 3, 4)).astype(np.float32)
