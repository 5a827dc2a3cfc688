"""Where submissions run. A backend is imported when it is asked for."""

from collections.abc import Mapping
from typing import Final

#: Name on the command line -> module and class.
SANDBOXES: Final[Mapping[str, str]] = {
    "container": "harness.sandbox.container:ContainerSandbox",
    "process": "harness.sandbox.process:ProcessSandbox",
}
