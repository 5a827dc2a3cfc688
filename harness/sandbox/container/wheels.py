"""The wheels of an image: downloaded on the host, for the interpreter of the base."""

from __future__ import annotations

import hashlib
import importlib.resources
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

from harness.errors import SandboxUnavailable
from harness.sandbox.container.bases import Interpreter
from harness.sandbox.container.wheel_pins import require_pinned

PYTORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def constraints() -> str:
    """Return the text of the constraints file that travels with the package."""
    return importlib.resources.files("harness").joinpath("constraints.txt").read_text("utf-8")


def pinned(package: str) -> str:
    """Return ``package==version`` from the constraints; torch is its CPU build.

    Naming the local version keeps pip from fetching gigabytes of CUDA where it knows only PyPI:
    there the request fails at once and PyTorch's own CPU index is asked.
    """
    for line in constraints().splitlines():
        if line.startswith(f"{package}=="):
            return f"{line}+cpu" if package == "torch" else line
    raise LookupError(f"{package} is not in constraints.txt")


def download(
    packages: tuple[str, ...],
    interpreter: Interpreter,
    *,
    index: str | None,
    cache: Path | None,
    report: Callable[[str], None],
) -> tuple[Path, ...]:
    """Return the wheels of ``packages`` and of what they require, fetched once and then kept.

    Args:
        index: one more package index to look at; None looks where pip is configured to, and
            then at PyTorch's CPU index.
        cache: folder to keep wheels in; None is the user's cache folder.

    Raises:
        SandboxUnavailable: pip finds no such wheels, or one that is not the pinned one.
    """
    requirements = [pinned(package) for package in packages]
    root = cache or Path(platformdirs.user_cache_dir("takehome", appauthor=False)) / "wheels"
    wanted = [
        *requirements,
        constraints(),
        interpreter.version,
        *interpreter.abis,
        *interpreter.platforms,
    ]
    kept = root / hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:16]
    if not kept.is_dir():
        wheels = ", ".join(requirements)
        report(f"downloading wheels of {wheels} for Python {interpreter.version}")
        try:
            root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="partial-", dir=root) as folder:
                _fetch(requirements, interpreter, index=index, folder=Path(folder))
                _keep(Path(folder) / "wheels", kept)
        except OSError as error:
            raise SandboxUnavailable(
                f"wheels are kept in {root}, which cannot be written to ({error}); "
                "make it writable, or set XDG_CACHE_HOME to another folder"
            ) from error
    found = tuple(sorted(kept.glob("*.whl")))
    require_pinned(found, report)
    return found


def _keep(fetched: Path, kept: Path) -> None:
    """Move a whole set into place; another process may have done so in the meantime."""
    try:
        os.rename(fetched, kept)
    except OSError:
        if not kept.is_dir():
            raise


def _fetch(
    requirements: list[str], interpreter: Interpreter, *, index: str | None, folder: Path
) -> None:
    with_torch = any(requirement.startswith("torch==") for requirement in requirements)
    indexes = [index] if index or not with_torch else [None, PYTORCH_CPU_INDEX]
    pins = folder / "constraints.txt"
    pins.write_text(constraints(), encoding="utf-8")
    complaint = ""
    for extra in indexes:
        wheels = folder / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        done = subprocess.run(
            [
                *_pip_command(interpreter, extra),
                f"--constraint={pins}",
                f"--dest={wheels}",
                *requirements,
            ],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode == 0:
            return
        complaint = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
    raise SandboxUnavailable(
        f"the wheels of {', '.join(requirements)} for Python {interpreter.version} "
        f"cannot be downloaded ({complaint}); check the network and pip's settings, or name an "
        "index that has them with `takehome image build --index-url URL`"
    )


def _pip_command(interpreter: Interpreter, index: str | None) -> list[str]:
    """Return ``pip download`` for the base's tags: the host's may differ in all of them."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--retries=1"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--implementation=cp"]
    command += [f"--python-version={interpreter.version}"]
    command += [f"--abi={abi}" for abi in interpreter.abis]
    command += [f"--platform={platform}" for platform in interpreter.platforms]
    if index:
        command += [f"--extra-index-url={index}"]
    return command
