"""A real Chromium, and pages rendered to files that it can open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.reports import samples

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
    """Debian's Chromium or the user's own; without one the test is skipped with a reason."""
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


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole batch, one card of each kind in it."""
    from reports import write

    out = tmp_path_factory.mktemp("site")
    write(samples.batch(), samples.cards(), out)
    return out


@pytest.fixture(scope="session")
def handed_out(site: Path) -> Path:
    """The same folder once a candidate's card has been made from it, in a copy."""
    from reports import write_candidate

    out = site.parent / f"{site.name}-handed-out"
    shutil.copytree(site, out)
    write_candidate(samples.crashed(), out)
    return out
