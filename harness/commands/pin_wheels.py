"""Pins the wheels of the images: ``python -m harness.commands.pin_wheels``.

Asks PyPI, and for its CPU build PyTorch's own index, for the files of the versions in
``constraints.txt``, and writes their sha256 to ``harness/sandbox/container/wheels.sha256``.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Final

from harness.sandbox.container import PINS, pinned_versions

_PYPI: Final = "https://pypi.org/simple"
_PYTORCH: Final = "https://download.pytorch.org/whl/cpu/torch/"
_PYTHONS: Final = ("cp311", "cp312", "cp313", "cp314", "py3", "py2.py3")
_PLATFORMS: Final = ("manylinux", "any")


def _read(address: str, kind: str) -> bytes:
    request = urllib.request.Request(address, headers={"Accept": kind})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return bytes(reply.read())


def _fits(name: str, version: str) -> bool:
    """Tell whether a file is a wheel of that version that an image may take."""
    parts = name.removesuffix(".whl").split("-")
    if not name.endswith(".whl") or parts[1] != version:
        return False
    python, abi, platform = parts[-3:]
    # A free-threaded interpreter ("cp313t") is not one of ours.
    return python in _PYTHONS and platform.startswith(_PLATFORMS) and not abi.endswith("t")


def _of_pypi(package: str, version: str) -> Iterator[tuple[str, str]]:
    """Yield file name and sha256 of the wheels of a release."""
    listed = _read(f"{_PYPI}/{package}/", "application/vnd.pypi.simple.v1+json")
    for file in json.loads(listed)["files"]:
        if _fits(file["filename"], version):
            yield file["filename"], file["hashes"]["sha256"]


def _of_pytorch(version: str) -> Iterator[tuple[str, str]]:
    """Yield file name and sha256 of the wheels of torch for the CPU."""
    listed = urllib.parse.unquote(_read(_PYTORCH, "text/html").decode())
    for name, digest in re.findall(r"/(torch-[^/#\"]+\.whl)#sha256=([0-9a-f]{64})", listed):
        if _fits(name, f"{version}+cpu"):
            yield name, digest


def main() -> None:
    """Write the pins, and say which index did not answer."""
    versions = dict(pinned_versions())
    torch = versions.pop("torch")
    found: dict[str, str] = {}
    for package, version in versions.items():
        found.update(_of_pypi(package, version))
    try:
        found.update(_of_pytorch(torch))
    except urllib.error.URLError as error:
        sys.stderr.write(f"{_PYTORCH} does not answer ({error.reason}); torch is not pinned\n")
    lines = (f"{digest}  {name}" for name, digest in sorted(found.items()))
    PINS.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
