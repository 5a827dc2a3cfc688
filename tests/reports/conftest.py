"""Pages rendered to files that a browser can open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.reports import samples


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
