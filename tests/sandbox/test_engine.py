import pytest

from harness.errors import SandboxUnavailable
from harness.sandbox.container import engine
from harness.sandbox.container.engine import connect, require_runtime


def test_an_engine_that_is_not_there_is_an_error_that_says_how_to_start_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(SandboxUnavailable, match=r"unix:///nowhere/docker\.sock .*start one"):
        connect()


def test_a_socket_that_one_may_not_use_is_no_engine_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(engine, "_knock", refused)  # root, who runs these tests, may use any
    with pytest.raises(SandboxUnavailable, match="usermod -aG docker"):
        connect()


def test_an_engine_on_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://localhost:1")
    with pytest.raises(SandboxUnavailable, match="expected a Unix socket"):
        connect()


@pytest.mark.docker
def test_the_engine_answers() -> None:
    client = connect()
    try:
        assert client.version()["Version"]
    finally:
        client.close()


@pytest.mark.docker
def test_a_runtime_that_the_engine_lacks_is_named_with_those_that_it_has() -> None:
    client = connect()
    try:
        require_runtime(client, None)
        require_runtime(client, "runc")
        with pytest.raises(SandboxUnavailable, match=r"runtime is nosuch, expected one of .*runc"):
            require_runtime(client, "nosuch")
    finally:
        client.close()
