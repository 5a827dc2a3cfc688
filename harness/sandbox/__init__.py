"""Where submissions run: a container, a process, or nowhere for written answers.

``harness.sandbox.container`` has a face of its own, since it loads the engine's SDK.
"""

from harness.sandbox.base import LIMITS, Frame, Limits, Memory, Sandbox
from harness.sandbox.choice import SANDBOXES, OpenSandbox, opener
from harness.sandbox.own_tests import OwnTestsReport, OwnTestsRunner

__all__ = [
    "LIMITS",
    "SANDBOXES",
    "Frame",
    "Limits",
    "Memory",
    "OpenSandbox",
    "OwnTestsReport",
    "OwnTestsRunner",
    "Sandbox",
    "opener",
]
