"""Makes an engine ready for containers, once, before any submission is graded."""

from __future__ import annotations

from collections.abc import Callable

from harness.sandbox.base import Limits, Sandbox
from harness.sandbox.container.engine import connect, require_runtime
from harness.sandbox.container.images import ensure_image
from harness.sandbox.container.reaper import reap
from harness.sandbox.container.sandbox import ContainerSandbox


def opener(
    image: str, limits: Limits, *, runtime: str | None, report: Callable[[str], None]
) -> Callable[[], Sandbox]:
    """Return a function that opens a container; abandoned ones are removed.

    Raises:
        SandboxUnavailable: no engine answers, it has no such runtime, or the image cannot be
            built.
    """
    client = connect()
    require_runtime(client, runtime)
    reap(client)
    ready = ensure_image(client, f"takehome-{image}", report=report)
    return lambda: ContainerSandbox(client=client, image=ready, limits=limits, runtime=runtime)
