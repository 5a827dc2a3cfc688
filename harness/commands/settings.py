"""Probes of the settings of a sandbox: what a submission reads of them, in a live container.

These cannot be overrun in a moment, or not without harm to the machine when they do not hold.
"""

from __future__ import annotations

import os
from typing import Any

from harness.commands.probes import KERNEL, LIMITS_IGNORED, Measurement, Probe, SandboxUnderTest
from harness.sandbox.container import create_arguments

#: Where a container may have mounts: what runc makes of its own, and the scratch folders.
_MOUNTS = ("/", "/proc", "/dev", "/sys", "/tmp")
#: Files that the engine puts into every container, with its own name and resolver.
_ENGINE_FILES = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf"}
_SCRATCH = ("/tmp", "/dev/shm")
_SCRATCH_OPTIONS = {"rw", "nosuid", "nodev", "noexec"}
_ENVIRONMENT = {"HOSTNAME"}  #: the engine's own


def _asked(sandbox: SandboxUnderTest) -> dict[str, Any]:
    """Return the arguments that a container is made with, for what a probe expects to see."""
    return create_arguments(
        sandbox.client.api,
        sandbox.image,
        sandbox.limits,
        user=0,
        runtime=sandbox.runtime,
        seconds=1,
        labels={},
    )


def _scratch_options(sandbox: SandboxUnderTest) -> Measurement:
    mounts = dict(line.split(" ", 1) for line in map(str, sandbox.ask("mounts")))
    missing = {
        folder: _SCRATCH_OPTIONS - set(mounts.get(folder, "").split(",")) for folder in _SCRATCH
    }
    seen = ", ".join(
        f"{folder} lacks {' '.join(sorted(lacks)) or 'nothing'}"
        for folder, lacks in missing.items()
    )
    return not any(missing.values()), seen


def _mounts(sandbox: SandboxUnderTest) -> Measurement:
    places = [line.split(" ", 1)[0] for line in map(str, sandbox.ask("mounts"))]
    foreign = [
        place
        for place in places
        if place not in _ENGINE_FILES
        and not any(place == own for own in _MOUNTS)
        and not place.startswith(("/proc/", "/sys/", "/dev/"))
    ]
    return not foreign, f"mounted beside the usual: {' '.join(foreign) or 'nothing'}"


def _environment(sandbox: SandboxUnderTest) -> Measurement:
    asked = _asked(sandbox)["environment"]
    names = set(map(str, sandbox.ask("environment")))
    # What the interpreter of the image brings is public, as the image is.
    image = sandbox.client.api.inspect_image(sandbox.image.id)["Config"].get("Env") or []
    known = {entry.partition("=")[0] for entry in (*asked, *image)} | _ENVIRONMENT
    extra = sorted(names - known)
    return not extra, f"variables beside ours: {' '.join(extra) or 'none'}"


def _ulimits(sandbox: SandboxUnderTest) -> Measurement:
    limits = dict(str(entry).split("=") for entry in sandbox.ask("ulimits"))
    wrong = [
        f"{name} is {limits[name]}"
        for name, wanted in (
            ("core", "0:0"),
            ("fsize", f"{64 << 20}:{64 << 20}"),
            ("memlock", f"{1 << 16}:{1 << 16}"),
            ("msgqueue", "0:0"),
            ("nofile", "256:256"),
            ("stack", f"{8 << 20}:{64 << 20}"),
        )
        if limits.get(name) != wanted
    ]
    if limits.get("cpu", "-1:-1").startswith("-1"):
        wrong.append("cpu is unlimited")
    return not wrong, ", ".join(wrong) or "all seven as asked"


def _swap(sandbox: SandboxUnderTest) -> Measurement:
    beyond = _text(sandbox, "swap_limit")
    if beyond == "(not said)":
        return True, "cannot be known: the control group does not account for swap"
    return beyond == "0", f"{beyond} bytes of swap beside memory"


def _control_group(sandbox: SandboxUnderTest) -> Measurement:
    paths = _text(sandbox, "control_group")
    return paths == "/", f"own path in the control group: {paths}"


def _shared_memory(sandbox: SandboxUnderTest) -> Measurement:
    inside = _text(sandbox, "ipc_namespace")
    try:
        outside = os.readlink("/proc/self/ns/ipc")
    except OSError:
        return True, "cannot be known: the harness sees no namespaces of its own"
    return inside != outside, "its own" if inside != outside else "the host's"


def _processors(sandbox: SandboxUnderTest) -> Measurement:
    (granted,) = sandbox.ask("processors")
    if granted == 0:
        return True, "cannot be known: the control group does not say"
    return granted == 1, f"{granted} processors"


def _log_driver(sandbox: SandboxUnderTest) -> Measurement:
    with sandbox.container(60.0) as (container, _):
        inspected = sandbox.client.api.inspect_container(container)
    driver = inspected["HostConfig"]["LogConfig"]["Type"]
    return driver == "none", f"log driver {driver}"


def _system_calls(sandbox: SandboxUnderTest) -> Measurement:
    let_through = " ".join(map(str, sandbox.ask("system_calls")))
    return not let_through, f"let through: {let_through or 'none of 35'}"


def _oom_score(sandbox: SandboxUnderTest) -> Measurement:
    with sandbox.container(60.0) as (container, _):
        adjustment = sandbox.client.api.inspect_container(container)["HostConfig"]["OomScoreAdj"]
    return adjustment > 0, f"oom_score_adj {adjustment}"


def _text(sandbox: SandboxUnderTest, function: str) -> str:
    (text,) = sandbox.ask(function)
    return str(text)


SETTINGS = (
    Probe(name="scratch options", measure=_scratch_options, advice=KERNEL, reads=True),
    Probe(
        name="mounts",
        measure=_mounts,
        advice="the engine mounts more than it is asked to",
        reads=True,
    ),
    Probe(
        name="environment",
        measure=_environment,
        advice="remove `proxies` and default variables from the engine's configuration",
        reads=True,
    ),
    Probe(name="limits of a process", measure=_ulimits, advice=LIMITS_IGNORED, reads=True),
    Probe(name="no swap", measure=_swap, advice=LIMITS_IGNORED, reads=True),
    Probe(name="own control group", measure=_control_group, advice=KERNEL, reads=True),
    Probe(name="own shared memory", measure=_shared_memory, advice=KERNEL, reads=True),
    Probe(name="processor limit", measure=_processors, advice=LIMITS_IGNORED, reads=True),
    Probe(
        name="no log on disk",
        measure=_log_driver,
        advice="the engine keeps what is printed; set no `log-driver` of its own for containers",
    ),
    Probe(
        name="refused system calls",
        measure=_system_calls,
        advice="the system call filter does not hold; `docker info` must list seccomp",
        reads=True,
    ),
    Probe(name="first to be killed", measure=_oom_score, advice=LIMITS_IGNORED),
)
