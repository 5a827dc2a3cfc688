"""The wheels of the images by their sha256, so that an index cannot slip in another.

``wheels.sha256`` is in the form of sha256sum(1). ``python -m harness.commands.pin_wheels`` writes
it anew for the versions of ``constraints.txt``.
"""

from __future__ import annotations

import hashlib
import importlib.resources
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.errors import SandboxUnavailable

PINS: Final = Path(__file__).with_name("wheels.sha256")


def read_pins() -> Mapping[str, str]:
    """Return the sha256 of each pinned wheel by its file name."""
    lines = (line.split() for line in PINS.read_text(encoding="ascii").splitlines())
    return {name: digest for digest, name in lines}


def require_pinned(wheels: Sequence[Path], report: Callable[[str], None]) -> None:
    """Require that each wheel that is pinned is the pinned one; report those that are not pinned.

    Raises:
        SandboxUnavailable: the sha256 of a wheel is another than the pinned one.
    """
    pins = read_pins()
    for wheel in wheels:
        with wheel.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        expected = pins.get(wheel.name)
        if expected is None:
            report(f"{wheel.name} is not pinned by hash; its sha256 is {digest}")
        elif digest != expected:
            raise SandboxUnavailable(
                f"the sha256 of {wheel.name} is {digest}, expected {expected}; find out which "
                f"index gave it (`pip config list`), and remove {wheel.parent}"
            )


def image_versions() -> Mapping[str, str]:
    """Return the version of each package inside the images: the first part of the constraints."""
    return _versions_of_part("# Inside the images.")


def pinned_versions() -> Mapping[str, str]:
    """Return the version of each package that is pinned: also those in the images for tests."""
    return {
        **image_versions(),
        **_versions_of_part("# Inside the images for candidates' own tests"),
    }


def _versions_of_part(heading: str) -> Mapping[str, str]:
    text = importlib.resources.files("harness").joinpath("constraints.txt").read_text("utf-8")
    part = text.split(heading)[1].split("\n\n")[0]
    return dict(line.split("==") for line in part.splitlines() if "==" in line)
