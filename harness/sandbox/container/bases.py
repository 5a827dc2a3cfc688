"""The base of an image: finding it, or making one, and asking what its interpreter is."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable

import docker
import docker.errors
import msgspec

from harness.errors import SandboxUnavailable
from harness.sandbox.container.engine import ENGINE_ERRORS

REGISTRY_BASE = "python:3.13-slim-bookworm"
BOOTSTRAPPED_BASE = "takehome-base:bookworm"
BOOTSTRAP_SUITE = "bookworm"
BOOTSTRAP_SECONDS = 900  #: 20 s to 95 s measured, on a slow mirror more

# The wheel tags come from the pip of the base, which installs the wheels there.
_ASK = """
import json, platform, sys
from pip._vendor.packaging.tags import sys_tags
tags = list(sys_tags())
print(json.dumps({
    "path": sys.executable,
    "version": platform.python_version(),
    "abis": list(dict.fromkeys(tag.abi for tag in tags if tag.interpreter == tags[0].interpreter)),
    "platforms": list(dict.fromkeys(tag.platform for tag in tags)),
}))
"""


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """The Python of a base, and which wheels it takes."""

    path: str  #: "/usr/local/bin/python3"
    version: str  #: "3.13.1"
    abis: tuple[str, ...]  #: wheel tags, best first
    platforms: tuple[str, ...]  #: wheel tags, best first


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """An image to build on."""

    reference: str  #: as the user writes it
    id: str
    interpreter: Interpreter


def find_base(
    client: docker.DockerClient, reference: str | None, report: Callable[[str], None]
) -> Base:
    """Return the base that ``reference`` names, or a default one.

    The default is an official slim Python image; where no registry answers, a Debian that
    ``mmdebstrap`` makes.

    Raises:
        SandboxUnavailable: there is none; the message says how to get one.
    """
    if reference is None:
        reference = _default_reference(client, report)
    elif local_id(client, reference) is None:
        try:
            _pull(client, reference, report)
        except ENGINE_ERRORS as error:
            raise SandboxUnavailable(
                f"the base image is {reference}, which is neither here nor to be pulled ({error}); "
                "check the name, or `docker load` it first"
            ) from error
    image_id = local_id(client, reference)
    if image_id is None:
        raise SandboxUnavailable(f"the base image {reference} has gone; build again")
    return _ask(client, reference, image_id)


def local_id(client: docker.DockerClient, reference: str) -> str | None:
    """Return the id of an image that the engine has, or None."""
    try:
        return str(client.images.get(reference).id)
    except docker.errors.ImageNotFound:
        return None


def _default_reference(client: docker.DockerClient, report: Callable[[str], None]) -> str:
    for reference in (REGISTRY_BASE, BOOTSTRAPPED_BASE):
        if local_id(client, reference) is not None:
            return reference
    try:
        _pull(client, REGISTRY_BASE, report)
    except ENGINE_ERRORS as error:
        report(f"{REGISTRY_BASE} cannot be pulled ({error})")
        _bootstrap(client, report)
        return BOOTSTRAPPED_BASE
    return REGISTRY_BASE


def _pull(client: docker.DockerClient, reference: str, report: Callable[[str], None]) -> None:
    report(f"pulling {reference}")
    client.images.pull(reference)


def _bootstrap(client: docker.DockerClient, report: Callable[[str], None]) -> None:
    """Make a minimal Debian with Python and import it, with no registry."""
    tool = _bootstrap_tool()
    report(f"making {BOOTSTRAPPED_BASE} with mmdebstrap, about a minute")
    with tempfile.TemporaryDirectory(prefix="takehome-base-") as folder:
        archive = os.path.join(folder, "base.tar")
        command = [tool, "--quiet", "--variant=minbase", "--include=python3,python3-pip"]
        command += [BOOTSTRAP_SUITE, archive]
        try:
            done = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=BOOTSTRAP_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise SandboxUnavailable(
                f"mmdebstrap took more than {BOOTSTRAP_SECONDS} s; check the Debian mirror"
            ) from error
        if done.returncode:
            raise SandboxUnavailable(
                f"mmdebstrap ended with {done.returncode} ({_last_line(done.stderr)}); "
                f"run `{' '.join(command[:-1])} base.tar` to see why"
            )
        repository, tag = BOOTSTRAPPED_BASE.split(":")
        client.api.import_image(src=archive, repository=repository, tag=tag)


def _bootstrap_tool() -> str:
    tool = shutil.which("mmdebstrap")
    if tool is None or os.geteuid() != 0:
        raise SandboxUnavailable(
            f"no base image: {REGISTRY_BASE} is not here and cannot be pulled, expected a registry "
            "that answers, or root with mmdebstrap; either `docker load` a Python image and run "
            "`takehome image build --base REF`, or on Debian run `apt-get install mmdebstrap` and "
            "`takehome image build` as root"
        )
    return tool


def _ask(client: docker.DockerClient, reference: str, image_id: str) -> Base:
    try:
        interpreter = msgspec.json.decode(run_python(client, image_id, _ASK), type=Interpreter)
    except (*ENGINE_ERRORS, msgspec.MsgspecError) as error:
        raise SandboxUnavailable(
            f"the base image is {reference}, in which `python3` with pip does not run "
            f"({_last_line(str(error))}); choose another with --base"
        ) from error
    return Base(reference=reference, id=image_id, interpreter=interpreter)


def run_python(client: docker.DockerClient, image_id: str, code: str) -> bytes:
    """Return what Python code prints in an image, as an ordinary user with no network."""
    container = client.containers.create(
        image_id,
        entrypoint=["python3", "-I", "-c", code],
        network_mode="none",
        user="64001:64001",
        cap_drop=["ALL"],
        read_only=True,
    )
    try:
        container.start()
        container.wait()
        return bytes(container.logs(stdout=True, stderr=False))
    finally:
        container.remove(force=True)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
