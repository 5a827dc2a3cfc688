from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest

from harness.sandbox.container import connect


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = connect()
    yield client
    client.close()
