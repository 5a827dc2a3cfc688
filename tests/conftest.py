"""What every test may ask for: seeds, an engine where one answers, and a real Chromium."""

import os
import secrets
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from harness.errors import SandboxUnavailable
from harness.sandbox.container.engine import connect
from harness.threads import ONE_THREAD

# A test is right or wrong, however busy the machine is; timings belong in benchmarks.
# Two runs of one commit are the same tests, unless fresh seeds are asked for.
FRESH = "TAKEHOME_SEEDS" in os.environ
settings.register_profile("takehome", deadline=None, derandomize=not FRESH)
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
    """3 seeds, always the same, or as many fresh ones as TAKEHOME_SEEDS says.

    A failure prints its seed.
    """
    if FRESH:
        return [secrets.token_hex(4) for _ in range(int(os.environ["TAKEHOME_SEEDS"]))]
    return [f"{index:08x}" for index in range(3)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """With ``--dist loadgroup``, keep the tests of a file together that name no group.

    What a module's fixture makes is made once then.
    """
    # The process that collects is told so; its "dist" is always "no".
    if not config.getoption("loadgroup", False):
        return
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return Debian's Chromium or the user's own; without one the test is skipped with a reason.

    One for all tests of a process: playwright's second one is refused while a first one is open.
    """
    path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if path is None:
        reason = "no Chromium on the PATH; install one to run the browser tests"
        if os.environ.get("TAKEHOME_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()
