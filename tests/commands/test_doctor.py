from collections.abc import Iterator

import docker
import pytest

from harness.commands import probes
from harness.commands.doctor import examine, require_held
from harness.commands.probes import PROBES, SandboxUnderTest
from harness.commands.settings import SETTINGS
from harness.errors import SandboxUnavailable, UnknownName
from harness.sandbox.base import Limits
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import ensure_image
from tests.attacks.defences import DEFENCES, without

BY_NAME = {probe.name: probe for probe in (*PROBES, *SETTINGS)}


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
@pytest.mark.parametrize("name", DEFENCES)
def test_a_probe_goes_red_without_what_it_is_about(name: str, sandbox: SandboxUnderTest) -> None:
    with without(DEFENCES[name]):
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
    assert BY_NAME.keys() == DEFENCES.keys() | {"flood", "kill"}


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


@pytest.mark.docker
def test_grading_is_refused_where_the_sandbox_does_not_hold_unless_that_is_accepted() -> None:
    lines: list[str] = []
    with without(DEFENCES["environment"], DEFENCES["mounts"]):
        with pytest.raises(SandboxUnavailable, match=r"mounts: .*/host; environment: .*SECRET"):
            require_held(runtime=None, limits=Limits(), accepted=(), report=lines.append)
        with pytest.raises(SandboxUnavailable, match=r"promises \(environment: "):
            require_held(runtime=None, limits=Limits(), accepted=["mounts"], report=lines.append)
        accepted = ["mounts", "environment"]
        require_held(runtime=None, limits=Limits(), accepted=accepted, report=lines.append)
    assert [line.partition(":")[0] for line in lines[-2:]] == [
        "accepted although it does not hold"
    ] * 2


def test_only_a_probe_that_there_is_can_be_accepted() -> None:
    with pytest.raises(UnknownName, match="did you mean no swap"):
        require_held(runtime=None, limits=Limits(), accepted=["no-swap"], report=print)
