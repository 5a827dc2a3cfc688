"""A case is red without all that guards against it: one that is not would prove nothing."""

from __future__ import annotations

from pathlib import Path

import docker
import pytest

from tests.attacks.defences import GUARDED, without
from tests.attacks.grading import AttackedHost, own_temporary_folder, red

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.mark.parametrize("name", GUARDED)
def test_a_case_is_red_without_what_guards_against_it(
    client: docker.DockerClient, tmp_path: Path, name: str
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "temporary").mkdir()
    with own_temporary_folder(tmp_path / "temporary"):
        host = AttackedHost(client, tmp_path / "root", reuse=False, image="numpy")
        try:
            with without(*GUARDED[name]):
                assert red(name, host.grade_case(name), host, containers=0)
        finally:
            host.close()
