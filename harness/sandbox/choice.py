"""From the name of a sandbox on the command line to a function that opens one."""

from __future__ import annotations

from collections.abc import Callable

from harness.errors import UsageError
from harness.sandbox.base import LIMITS, Sandbox

OpenSandbox = Callable[[], Sandbox]


def opener(
    kind: str,
    image: str,
    *,
    runtime: str | None = None,
    report: Callable[[str], None] = lambda said: None,
) -> OpenSandbox:
    """Return a function that opens a sandbox of that kind with the image's limits.

    For containers the image is made ready first, and abandoned containers are removed. Written
    answers are read, whatever the kind.

    Raises:
        UsageError: there is no such kind of sandbox, or it has no runtimes.
        SandboxUnavailable: no engine answers, it has no such runtime, or the image cannot be
            built. Never falls back.
    """
    limits = LIMITS[image]
    if image == "text":
        from harness.sandbox.reading import ReadingSandbox

        return lambda: ReadingSandbox(limits=limits)
    if kind == "process":
        if runtime:
            raise UsageError("--runtime goes with --sandbox container")
        from harness.sandbox.process import ProcessSandbox

        return lambda: ProcessSandbox(limits=limits)
    if kind != "container":
        raise UsageError(f"sandbox is {kind!r}, expected container or process")
    from harness.sandbox.container import ContainerSandbox
    from harness.sandbox.engine import connect, require_runtime
    from harness.sandbox.images import ensure_image
    from harness.sandbox.reaper import reap

    client = connect()
    require_runtime(client, runtime)
    reap(client)
    ready = ensure_image(client, f"takehome-{image}", report=report)
    return lambda: ContainerSandbox(client=client, image=ready, limits=limits, runtime=runtime)
