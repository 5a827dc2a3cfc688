"""The connection to the container engine."""

from __future__ import annotations

import os
import sys

import docker
import docker.errors
import requests.exceptions

from harness.errors import SandboxUnavailable

ENGINE_SECONDS = 20  #: for every answer of the engine, so that a hung one cannot hang a grading
ENGINE_ERRORS = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)

_START_ONE = (
    "start one (Linux: `systemctl start docker`; macOS: start Docker Desktop), or set DOCKER_HOST "
    "to what `docker context inspect -f '{{.Endpoints.docker.Host}}'` prints"
)


def connect() -> docker.DockerClient:
    """Return a client of the engine that DOCKER_HOST names, or of the local one.

    A process needs one client. Only Unix sockets are served: on the others the engine does not
    pass on that a standard stream was closed.

    Raises:
        SandboxUnavailable: no engine answers there.
    """
    host = os.environ.get("DOCKER_HOST", "")
    if host and not host.startswith("unix://"):
        raise SandboxUnavailable(
            f"DOCKER_HOST is {host}, expected a Unix socket such as unix:///var/run/docker.sock; "
            "run takehome on the machine of the engine"
        )
    try:
        client = docker.from_env(timeout=ENGINE_SECONDS)
        client.ping()
    except ENGINE_ERRORS as error:
        where = host or "the default socket"
        raise SandboxUnavailable(
            f"the engine at {where} is not reachable ({_reason(error)}), expected Docker; "
            f"{_START_ONE}"
        ) from error
    return client


def _reason(error: BaseException) -> str:
    """Return the innermost cause: docker wraps a one-line reason in three others."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error) or type(error).__name__


def main() -> int:
    """Print which engine answers, or why none does, for scripts; return 0 or 3."""
    try:
        client = connect()
    except SandboxUnavailable as error:
        print(error)
        return 3
    print(f"Docker {client.version()['Version']} answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
