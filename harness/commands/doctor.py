"""Whether the engine and the sandbox here can be trusted with submissions."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

import docker

from harness.commands.probes import PROBES, Finding, SandboxUnderTest
from harness.commands.settings import SETTINGS
from harness.errors import CandidateError, SandboxBroken, SandboxUnavailable, UnknownName
from harness.sandbox import Limits
from harness.sandbox.container import Image, connect, ensure_image


def examine(
    *,
    runtime: str | None,
    limits: Limits,
    report: Callable[[str], None] = lambda line: None,
) -> Iterator[Finding]:
    """Yield the findings one by one; the first ones are conditions of the others.

    Args:
        runtime: of the engine, as ``--runtime`` names it. One that does not start a container
            is a finding that is not ok, and ends the examination: nothing falls back.
        report: receives a line per step of building the image, if it has to be built.
    """
    try:
        client = connect()
    except SandboxUnavailable as error:
        yield Finding(name="engine", ok=False, measured=str(error), advice="start Docker")
        return
    with contextlib.closing(client):
        yield _engine(client)
        yield _control_groups(client)
        try:
            image = ensure_image(client, "takehome-numpy", report=report)
            sandbox = SandboxUnderTest(client=client, image=image, limits=limits, runtime=runtime)
            yield _image(image)
            yield _start(sandbox)
        except (SandboxBroken, CandidateError) as error:
            advice = "nothing can be graded in containers before this works"
            yield Finding(name="start", ok=False, measured=str(error), advice=advice)
            return
        for probe in (*PROBES, *SETTINGS):
            yield probe.run(sandbox)


def require_held(
    *, runtime: str | None, limits: Limits, accepted: Sequence[str], report: Callable[[str], None]
) -> None:
    """Check what can be read in a moment, in one container, before anybody's code runs in one.

    Args:
        accepted: names of probes that may be red.
        report: receives what is accepted, and a line per step of building the image.

    Raises:
        UnknownName: there is no such probe.
        SandboxUnavailable: the sandbox does not hold what it promises.
    """
    probes = [probe for probe in (*PROBES, *SETTINGS) if probe.reads]
    for name in accepted:
        if name not in {probe.name for probe in probes}:
            raise UnknownName("probe", name, [probe.name for probe in probes])
    with contextlib.closing(connect()) as client:
        image = ensure_image(client, "takehome-numpy", report=report)
        tested = SandboxUnderTest(client=client, image=image, limits=limits, runtime=runtime)
        with contextlib.closing(tested.sandbox()) as shared:
            tested = dataclasses.replace(tested, shared=shared)
            red = [finding for probe in probes if not (finding := probe.run(tested)).ok]
    for finding in red:
        if finding.name in accepted:
            report(f"accepted although it does not hold: {finding.name}: {finding.measured}")
    refused = [finding for finding in red if finding.name not in accepted]
    if refused:
        seen = "; ".join(f"{finding.name}: {finding.measured}" for finding in refused)
        raise SandboxUnavailable(
            f"the sandbox does not hold what it promises ({seen}); `takehome doctor` says what to "
            f'do, and --accept "{refused[0].name}" grades all the same'
        )


def _engine(client: docker.DockerClient) -> Finding:
    version = client.version()
    parts = [f"Docker {version['Version']}", f"API {version['ApiVersion']}"]
    parts += [
        f"{part['Name']} {part['Version']}"
        for part in version.get("Components", [])
        if part["Name"] in ("containerd", "runc")
    ]
    return Finding(name="engine", ok=True, measured=", ".join([*parts, version["KernelVersion"]]))


def _control_groups(client: docker.DockerClient) -> Finding:
    information = client.info()
    version = information.get("CgroupVersion", "1")
    options = [option.removeprefix("name=") for option in information.get("SecurityOptions", [])]
    ignored = any(option.startswith("rootless") for option in options) and version == "1"
    return Finding(
        name="control groups",
        ok=not ignored,
        measured=f"v{version}; {', '.join(options) or 'no security options'}",
        advice="a rootless engine needs cgroup v2 with delegation, or it ignores all limits"
        if ignored
        else "",
    )


def _image(image: Image) -> Finding:
    versions = ", ".join(f"{name} {version}" for name, version in image.versions.items())
    return Finding(name="image", ok=True, measured=f"{image.name}: {versions}")


def _start(sandbox: SandboxUnderTest) -> Finding:
    began = time.monotonic()
    sandbox.ask("identity")
    seconds = time.monotonic() - began
    runtime = sandbox.runtime or "the default runtime"
    return Finding(name="start", ok=True, measured=f"{runtime} answers after {seconds:.2f} s")
