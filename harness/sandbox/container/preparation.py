"""Makes an engine ready for containers, once, before any submission is graded."""

from __future__ import annotations

from collections.abc import Callable

from harness.errors import SandboxUnavailable
from harness.sandbox.base import Limits, Sandbox
from harness.sandbox.container.engine import connect, require_runtime
from harness.sandbox.container.images import ensure_image, find_image
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


def opener_of(image_id: str, limits: Limits, *, runtime: str | None) -> Callable[[], Sandbox]:
    """Return a function that opens a container of one image, by its id.

    Raises:
        SandboxUnavailable: no engine answers, or it has no such runtime or image.
    """
    client = connect()
    require_runtime(client, runtime)
    image = find_image(client, image_id)
    if image is None:
        raise SandboxUnavailable(
            f"the engine has no image {image_id}; load it with `docker load`, or build it with the "
            "takehome that made it"
        )
    return lambda: ContainerSandbox(client=client, image=image, limits=limits, runtime=runtime)
