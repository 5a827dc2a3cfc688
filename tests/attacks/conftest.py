from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest

from harness.sandbox.container import connect
from tests.reports.conftest import browser

__all__ = ["browser", "client"]


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = connect()
    yield client
    client.close()
