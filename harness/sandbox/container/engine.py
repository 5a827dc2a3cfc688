"""The connection to the container engine."""

from __future__ import annotations

import os
import socket

import docker
import docker.errors
import requests.exceptions

from harness.errors import SandboxUnavailable

DEFAULT_HOST = "unix:///var/run/docker.sock"
ENGINE_SECONDS = 20  #: for every answer of the engine, so that a hung one cannot hang a grading
ENGINE_ERRORS = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)

_START_ONE = (
    "start one (Linux: `systemctl start docker`; macOS: start Docker Desktop), or set DOCKER_HOST "
    "to what `docker context inspect -f '{{.Endpoints.docker.Host}}'` prints"
)
_JOIN_GROUP = (
    "you may not use its socket: `sudo usermod -aG docker $USER` and log in again (whoever is in "
    "that group can become root), or use a rootless engine and set DOCKER_HOST to its socket"
)


def connect() -> docker.DockerClient:
    """Return a client of the engine that DOCKER_HOST names, or of the local one.

    A process needs one client. Only Unix sockets are served: on the others the engine does not
    pass on that a standard stream was closed.

    Raises:
        SandboxUnavailable: no engine answers there.
    """
    host = os.environ.get("DOCKER_HOST") or DEFAULT_HOST
    if not host.startswith("unix://"):
        raise SandboxUnavailable(
            f"DOCKER_HOST is {host}, expected a Unix socket such as {DEFAULT_HOST}; "
            "run takehome on the machine of the engine"
        )
    try:
        _knock(host.removeprefix("unix://"))
        return docker.from_env(timeout=ENGINE_SECONDS)
    except ENGINE_ERRORS as error:
        advice = _JOIN_GROUP if isinstance(error, PermissionError) else _START_ONE
        raise SandboxUnavailable(
            f"the engine at {host} does not answer ({error}), expected Docker; {advice}"
        ) from error


def require_runtime(client: docker.DockerClient, runtime: str | None) -> None:
    """Make sure that the engine has a runtime, before anything is graded; None is its default.

    Raises:
        SandboxUnavailable: it has none of that name.
    """
    known = client.info().get("Runtimes") or {}
    if runtime is not None and runtime not in known:
        names = ", ".join(sorted(known))
        raise SandboxUnavailable(
            f"runtime is {runtime}, expected one of {names}; add it to the engine's daemon.json, "
            "or leave out --runtime"
        )


def _knock(path: str) -> None:
    """Open the socket once: docker's own error for one that is not there is four errors deep."""
    with socket.socket(socket.AF_UNIX) as knocking:
        knocking.settimeout(ENGINE_SECONDS)
        knocking.connect(path)
