"""The images that submissions run in: what belongs in one, building it, and whether it is fresh."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.resources
import io
import json
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import docker

from harness.errors import SandboxUnavailable
from harness.sandbox.container.bases import (
    BOOTSTRAPPED_BASE,
    REGISTRY_BASE,
    Base,
    find_base,
    local_id,
)
from harness.sandbox.container.engine import ENGINE_ERRORS
from harness.sandbox.container.wheels import constraints, download, pinned

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "takehome-numpy": ("numpy",),
    "takehome-torch": ("numpy", "torch"),
}
#: Images for candidates' own tests -> the image that each is built on, with pytest besides. They
#: are built when tests are first asked for.
TESTS: Mapping[str, str] = {f"{name}-tests": name for name in PACKAGES}
_IMPORTS = {"numpy": "numpy.random", "torch": "torch", "pytest": "pytest"}

BUILD_SECONDS = 900  #: without a line from the engine; installing torch takes 30 s to 100 s

CONTENT_LABEL = "takehome.content"  #: hash of everything that went in
_BASE_LABEL = "takehome.base"
_PYTHON_LABEL = "takehome.python"
_VERSIONS_LABEL = "takehome.versions"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image as containers use it."""

    id: str  #: containers run by it: a name can be moved
    name: str
    python: str  #: path of the interpreter in the image
    versions: Mapping[str, str]  #: of python, numpy and, in one of them, torch


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What goes into an image, besides its base and wheels."""

    name: str
    packages: tuple[str, ...]
    files: Mapping[str, bytes]  #: path in the build context -> content

    def content(self, *grounds: str) -> str:
        """Return the hash by which an image, built on images of these ids, is known as fresh."""
        digest = hashlib.sha256()
        for part in (self.name, *grounds, constraints(), *sorted(self.files)):
            digest.update(part.encode() + b"\0")
        for path in sorted(self.files):
            digest.update(hashlib.sha256(self.files[path]).digest())
        return digest.hexdigest()

    def outline(self, base: str | None) -> str:
        """Say what would be built from what; needs no engine."""
        default = f"{REGISTRY_BASE}, or {BOOTSTRAPPED_BASE} where it cannot be pulled"
        wheels = ", ".join(pinned(package) for package in self.packages)
        return "\n".join(
            [
                self.name,
                f"  base    {base or default}",
                f"  wheels  {wheels}, and what they require",
                *(
                    f"  file    {path} ({len(self.files[path])} bytes)"
                    for path in sorted(self.files)
                ),
            ]
        )


def recipe(name: str) -> Recipe:
    """Return what goes into the image ``name``.

    Raises:
        SandboxUnavailable: there is no such image.
    """
    if name in TESTS:
        files = _files("Dockerfile.tests", ("worker", "worker/own_tests"))
        return Recipe(name=name, packages=("pytest",), files=dict(files))
    if name not in PACKAGES:
        raise SandboxUnavailable(f"the image is {name}, expected {' or '.join(PACKAGES)}")
    files = _files("Dockerfile", ("worker",))
    return Recipe(name=name, packages=PACKAGES[name], files=dict(files))


def _files(dockerfile: str, folders: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    harness = importlib.resources.files("harness")
    yield "Dockerfile", harness.joinpath("sandbox", "container", dockerfile).read_bytes()
    yield "takehome/__main__.py", harness.joinpath("sandbox", "container", "entry.py").read_bytes()
    for folder in folders:
        for file in harness.joinpath(*folder.split("/")).iterdir():
            if file.name.endswith(".py"):
                yield f"takehome/{folder}/{file.name}", file.read_bytes()


def ensure_image(
    client: docker.DockerClient,
    name: str,
    *,
    base: str | None = None,
    index: str | None = None,
    cache: Path | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Image:
    """Return the image ``name``, built first when it is missing or stale.

    Without ``base``, an image is rebuilt on what it was built on before.

    Raises:
        SandboxUnavailable: it cannot be built; the message says what to do.
    """
    under = None
    if name in TESTS:
        under = ensure_image(
            client, TESTS[name], base=base, index=index, cache=cache, report=report
        )
    with _engine_failures(name):
        labels = _labels(client, name)
        reference = base or labels.get(f"{_BASE_LABEL}.reference")
        base_id = (reference and local_id(client, reference)) or labels.get(_BASE_LABEL, "")
        if image := _image(client, name, recipe(name).content(*_ids(base_id, under))):
            return image
    return build(client, name, base=reference, under=under, index=index, cache=cache, report=report)


def build(
    client: docker.DockerClient,
    name: str,
    *,
    base: str | None = None,
    under: Image | None = None,
    index: str | None = None,
    cache: Path | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Image:
    """Build the image ``name``; what the engine still has of an earlier build is used again.

    Args:
        base: reference of the image to build on; None is ``find_base``'s default.
        under: the image that one for tests is built on; its wheels are for the same base.
        index: one more package index for the wheels.
        cache: folder to keep wheels in; None is the user's cache folder.
        report: receives one line per step.

    Raises:
        SandboxUnavailable: the engine, a base or a wheel is missing, or the build failed.
    """
    made = recipe(name)
    with _engine_failures(name), tempfile.TemporaryFile() as context:
        ground = find_base(client, base, report)
        wheels = download(
            made.packages, ground.interpreter, index=index, cache=cache, report=report
        )
        report(f"building {name} on {ground.reference}")
        _write_context(context, made, wheels)
        context.seek(0)
        events = client.api.build(
            fileobj=context,
            custom_context=True,
            tag=name,
            rm=True,
            forcerm=True,
            decode=True,
            timeout=BUILD_SECONDS,
            network_mode="none",
            use_config_proxy=False,
            buildargs={
                "BASE": ground.id,
                "PYTHON": ground.interpreter.path,
                "IMPORTS": ", ".join(_IMPORTS[package] for package in made.packages),
                **({"IMAGE": under.id} if under else {}),
            },
            labels=_new_labels(made, ground, under, wheels),
        )
        _follow(name, events)
        image = _image(client, name, made.content(*_ids(ground.id, under)))
        if image is None:
            raise SandboxUnavailable(f"the image {name} is gone from the engine; build it again")
        return image


@contextlib.contextmanager
def _engine_failures(name: str) -> Iterator[None]:
    try:
        yield
    except ENGINE_ERRORS as error:
        raise SandboxUnavailable(
            f"the engine failed over the image {name} ({error}); see `takehome doctor`"
        ) from error


def remove_stale(client: docker.DockerClient) -> int:
    """Remove the images that a newer build has replaced, and return how many there were.

    An image that a container uses stays.
    """
    removed = client.images.prune(filters={"dangling": True, "label": CONTENT_LABEL})
    return sum("Deleted" in entry for entry in removed["ImagesDeleted"] or ())


def _ids(base: str, under: Image | None) -> tuple[str, ...]:
    return (base, under.id) if under else (base,)


def _new_labels(
    made: Recipe, base: Base, under: Image | None, wheels: tuple[Path, ...]
) -> dict[str, str]:
    installed = dict(wheel.name.split("-")[:2] for wheel in wheels)
    versions = {
        "python": base.interpreter.version,
        **(under.versions if under else {}),
        **{name: installed[name] for name in made.packages},
    }
    return {
        CONTENT_LABEL: made.content(*_ids(base.id, under)),
        _BASE_LABEL: base.id,
        f"{_BASE_LABEL}.reference": base.reference,
        _PYTHON_LABEL: base.interpreter.path,
        _VERSIONS_LABEL: json.dumps(versions),
    }


def _write_context(context: BinaryIO, made: Recipe, wheels: tuple[Path, ...]) -> None:
    """Write the build context as a tar that is the same for the same content."""
    with tarfile.open(fileobj=context, mode="w") as archive:
        for path, content in sorted(made.files.items()):
            archive.addfile(_member(path, len(content)), io.BytesIO(content))
        for wheel in wheels:
            with wheel.open("rb") as file:
                archive.addfile(_member(f"wheels/{wheel.name}", wheel.stat().st_size), file)


def _member(path: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.size = size
    member.mode = 0o644
    return member


def _follow(name: str, events: Iterator[dict[str, str]]) -> None:
    """Read the engine's account to its end, and keep what explains a failure."""
    said: list[str] = []
    for event in events:
        if "error" in event:
            tail = " | ".join("".join(said).strip().splitlines()[-3:])
            raise SandboxUnavailable(
                f"building {name} failed: {event['error'].strip()} ({tail}); "
                "try another base with `takehome image build --base REF`"
            )
        said.append(event.get("stream", ""))


def _labels(client: docker.DockerClient, name: str) -> Mapping[str, str]:
    return {} if local_id(client, name) is None else client.images.get(name).labels


def _image(client: docker.DockerClient, name: str, content: str) -> Image | None:
    """Return the image built of this content, whichever build has the tag now, or None.

    Two versions of the harness on one engine so use an image each and do not take turns building.
    """
    for found in client.images.list(filters={"label": f"{CONTENT_LABEL}={content}"}):
        return _described(found, name)
    return None


def find_image(client: docker.DockerClient, image_id: str) -> Image | None:
    """Return the image of ours with an id, or None."""
    for found in client.images.list(filters={"label": CONTENT_LABEL}, all=True):
        if found.id == image_id:
            return _described(found, image_id)
    return None


def _described(found: docker.models.images.Image, name: str) -> Image:
    return Image(
        id=str(found.id),
        name=name,
        python=found.labels[_PYTHON_LABEL],
        versions=json.loads(found.labels[_VERSIONS_LABEL]),
    )
