"""From the name of a sandbox on the command line to a function that opens one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

from harness.errors import UnknownName
from harness.sandbox.base import LIMITS, Limits, Sandbox

OpenSandbox = Callable[[], Sandbox]


class Opener(Protocol):
    """What the module of a sandbox has under the name ``opener``."""

    def __call__(
        self, image: str, limits: Limits, *, runtime: str | None, report: Callable[[str], None]
    ) -> OpenSandbox:
        """Make everything ready, once, and return a function that opens a sandbox.

        Raises:
            UsageError: this kind has no runtimes.
            SandboxUnavailable: it cannot be made ready here. Never falls back.
        """


#: Name on the command line -> the module that has its ``opener``; imported when it is asked for.
SANDBOXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "container": "harness.sandbox.container",
        "process": "harness.sandbox.process",
    }
)


def opener(
    kind: str,
    image: str,
    *,
    limits: Limits | None = None,
    runtime: str | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> OpenSandbox:
    """Return a function that opens a sandbox of that kind, with the image's limits by default.

    Written answers are read, whatever the kind.

    Raises:
        UnknownName: there is no such kind of sandbox.
        UsageError: it has no runtimes.
        SandboxUnavailable: no engine answers, it has no such runtime, or the image cannot be
            built. Never falls back.
    """
    if kind not in SANDBOXES:
        raise UnknownName("sandbox", kind, SANDBOXES)
    module = "harness.sandbox.reading" if image == "text" else SANDBOXES[kind]
    make: Opener = importlib.import_module(module).opener
    return make(image, limits or LIMITS[image], runtime=runtime, report=report)
