from collections.abc import Callable, Iterator
from typing import Any

import docker
import pytest

from harness.commands import probes
from harness.commands.doctor import examine
from harness.commands.probes import PROBES, SandboxUnderTest
from harness.commands.settings import SETTINGS
from harness.sandbox.base import Limits
from harness.sandbox.container import container, hardening
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import ensure_image

Alter = Callable[[dict[str, Any]], None]

BY_NAME = {probe.name: probe for probe in (*PROBES, *SETTINGS)}


def in_host_config(**changes: object) -> Alter:
    return lambda arguments: arguments["host_config"].update(changes)


def without_filter(arguments: dict[str, Any]) -> None:
    arguments["host_config"]["SecurityOpt"] = ["no-new-privileges:true", "seccomp=unconfined"]


def with_new_privileges(arguments: dict[str, Any]) -> None:
    # Not this alone: the filter is then loaded earlier, and denies what runc does after that.
    arguments["host_config"]["SecurityOpt"] = ["seccomp=unconfined"]


def with_scratch(*, without: str) -> Alter:
    def alter(arguments: dict[str, Any]) -> None:
        tmpfs = arguments["host_config"]["Tmpfs"]
        for folder, options in tmpfs.items():
            kept = [option for option in options.split(",") if not option.startswith(without)]
            tmpfs[folder] = ",".join(kept)

    return alter


def without_ulimits(arguments: dict[str, Any]) -> None:
    arguments["host_config"].pop("Ulimits")


def with_programs_in_scratch(arguments: dict[str, Any]) -> None:
    # Left out, the engine adds it.
    tmpfs = arguments["host_config"]["Tmpfs"]
    for folder, options in tmpfs.items():
        tmpfs[folder] = options.replace("noexec", "exec")


def with_folder_of_the_host(arguments: dict[str, Any]) -> None:
    arguments["host_config"]["Binds"] = ["/etc:/host:ro"]


def with_variable(arguments: dict[str, Any]) -> None:
    arguments["environment"]["SECRET"] = "x"


# What each probe must notice: the sandbox without the one thing that the probe is about.
CONTROLS: dict[str, Alter] = {
    "unprivileged user": lambda arguments: arguments.update(user="0:0"),
    "no capabilities": in_host_config(CapDrop=[]),
    "no new privileges": with_new_privileges,
    "system call filter": without_filter,
    "socket families": without_filter,
    "no network": in_host_config(NetworkMode="bridge"),
    "read-only files": in_host_config(ReadonlyRootfs=False),
    "process limit": in_host_config(PidsLimit=0),
    "memory limit": in_host_config(Memory=0, MemorySwap=0),
    "scratch size": with_scratch(without="size="),
    "scratch files": with_scratch(without="nr_inodes="),
    "scratch options": with_programs_in_scratch,
    "mounts": with_folder_of_the_host,
    "environment": with_variable,
    "limits of a process": without_ulimits,
    "no swap": in_host_config(MemorySwap=-1),
    "own control group": in_host_config(CgroupnsMode="host"),
    "own shared memory": in_host_config(IpcMode="host"),
    "processor limit": in_host_config(NanoCpus=0),
    "no log on disk": in_host_config(LogConfig={"Type": "json-file", "Config": {}}),
    "refused system calls": without_filter,
    "first to be killed": in_host_config(OomScoreAdj=0),
    "own deadline": lambda arguments: arguments["command"].__setitem__(0, "60"),
    "ends with the harness": lambda arguments: arguments.update(detach=True),
}


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="module")
def sandbox(client: docker.DockerClient) -> SandboxUnderTest:
    image = ensure_image(client, "takehome-numpy")
    return SandboxUnderTest(client=client, image=image, limits=Limits(), runtime=None)


@pytest.mark.docker
@pytest.mark.parametrize("name", BY_NAME)
def test_the_sandbox_holds(name: str, sandbox: SandboxUnderTest) -> None:
    finding = BY_NAME[name].run(sandbox)
    assert finding.ok, finding.measured
    assert finding.advice == ""


@pytest.mark.docker
@pytest.mark.parametrize("name", CONTROLS)
def test_a_probe_goes_red_without_what_it_is_about(
    name: str, sandbox: SandboxUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weakened(*arguments: Any, **keywords: Any) -> dict[str, Any]:
        made = hardening.create_arguments(*arguments, **keywords)
        CONTROLS[name](made)
        return made

    monkeypatch.setattr(container, "create_arguments", weakened)
    monkeypatch.setattr(probes, "create_arguments", weakened)
    monkeypatch.setattr(probes, "_PATIENCE_SECONDS", 3)
    finding = BY_NAME[name].run(sandbox)
    assert not finding.ok
    assert "the probe broke" not in finding.measured
    assert finding.advice


@pytest.mark.docker
def test_a_flood_without_a_cap_is_seen(
    client: docker.DockerClient, sandbox: SandboxUnderTest
) -> None:
    limits = Limits(log_bytes=1 << 50, exchange_seconds=1.0)
    uncapped = SandboxUnderTest(client=client, image=sandbox.image, limits=limits, runtime=None)
    assert not BY_NAME["flood"].run(uncapped).ok


@pytest.mark.docker
def test_a_kill_that_takes_longer_than_it_may_is_seen(
    sandbox: SandboxUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PROMPT_SECONDS", 0.001)
    assert not BY_NAME["kill"].run(sandbox).ok


def test_every_probe_has_a_control() -> None:
    assert BY_NAME.keys() == CONTROLS.keys() | {"flood", "kill"}


@pytest.mark.docker
def test_a_runtime_that_does_not_start_ends_the_examination() -> None:
    findings = list(examine(runtime="absent", limits=Limits()))
    assert [finding.name for finding in findings if not finding.ok] == ["start"]
    assert findings[-1].name == "start"
    assert "absent" in findings[-1].measured


def test_an_absent_engine_is_the_only_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    (finding,) = examine(runtime=None, limits=Limits())
    assert (finding.name, finding.ok) == ("engine", False)
    assert "/nowhere/docker.sock" in finding.measured
