"""What every test may ask for: seeds, and an engine where one answers."""

import os
import secrets

import pytest
from hypothesis import settings

from harness.errors import SandboxUnavailable
from harness.sandbox.container.engine import connect
from harness.threads import ONE_THREAD

# A test is right or wrong, however busy the machine is; timings belong in benchmarks.
settings.register_profile("takehome", deadline=None)
settings.load_profile("takehome")


def pytest_configure(config):
    os.environ |= ONE_THREAD
    config.stash[ENGINE] = _why_no_engine()


ENGINE = pytest.StashKey[str]()


def _why_no_engine():
    try:
        connect().close()
    except SandboxUnavailable as error:
        return str(error)
    return ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if item.get_closest_marker("docker") and (why := item.config.stash[ENGINE]):
        if os.environ.get("TAKEHOME_REQUIRE_DOCKER") == "1":
            pytest.fail(f"TAKEHOME_REQUIRE_DOCKER=1, and {why}", pytrace=False)
        pytest.skip(f"no container engine: {why}")


@pytest.fixture(scope="session")
def seeds():
    """Fresh seeds: 10, or as many as TAKEHOME_SEEDS says. A failure prints its seed."""
    count = int(os.environ.get("TAKEHOME_SEEDS", "10"))
    return [secrets.token_hex(4) for _ in range(count)]
