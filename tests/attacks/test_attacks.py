"""Every attack of the corpus comes to what its case says, gains nothing and hurts nobody.

With one sandbox for many submissions, each attack is followed by an honest answer.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator

import docker
import pytest

from harness.results import Verdict
from tests.attacks.cases import CASES
from tests.attacks.grading import (
    POINTS,
    AttackedHost,
    own_temporary_folder,
    require_held,
    require_outcome,
)

pytestmark = pytest.mark.docker

#: These of the quick ones are also run in a container of their own; all are in `make test-all`.
FRESH = {"B05_dumps-environment", "E01a_announces-2-to-the-63", "S01_scratch-times"}


def runs(*, reuse: bool) -> list[object]:
    """Return every case as a parameter, the slow ones marked."""
    return [
        pytest.param(name, marks=[] if case.fast and (reuse or name in FRESH) else pytest.mark.slow)
        for name, case in sorted(CASES.items(), key=lambda entry: entry[1].image)
        if case.machine in ("", platform.machine())
    ]


Open = Callable[..., AttackedHost]


@pytest.fixture(scope="module")
def host(client: docker.DockerClient, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """Opens an attacked host, one at a time: asked for another, it closes the one before."""
    opened: dict[tuple[bool, str], AttackedHost] = {}

    def open_host(*, reuse: bool, image: str = "numpy") -> AttackedHost:
        if (reuse, image) not in opened:
            for _, before in list(opened.items()):
                before.close()
            opened.clear()
            root = tmp_path_factory.mktemp("host")
            opened[reuse, image] = AttackedHost(client, root, reuse=reuse, image=image)
        return opened[reuse, image]

    with own_temporary_folder(tmp_path_factory.mktemp("temporary")):
        yield open_host
        for last in opened.values():
            last.close()
        assert not os.listdir(".")


VERDICTS = {"right": Verdict.PASSED, "wrong": Verdict.FAILED}


@pytest.mark.parametrize("reuse", [True, False], ids=["reuse", "fresh"])
def test_honest_answers_get_what_they_deserve(host: Open, reuse: bool) -> None:
    here = host(reuse=reuse)
    for name, points in POINTS.items():
        graded = here.grade_answer(name)
        assert (graded.card.result.verdict, graded.points) == (VERDICTS[name], points)
        require_held(graded, here, containers=int(reuse))


@pytest.mark.parametrize("name", runs(reuse=False))
def test_an_attack_in_its_own_container_gains_nothing(host: Open, name: str) -> None:
    here = host(reuse=False, image=CASES[name].image)
    graded = here.grade_case(name)
    require_outcome(name, graded, here)
    require_held(graded, here, containers=0)


@pytest.mark.parametrize("name", runs(reuse=True))
def test_an_attack_gains_nothing_and_the_next_answer_is_graded_right(host: Open, name: str) -> None:
    here = host(reuse=True, image=CASES[name].image)
    graded = here.grade_case(name)
    after = here.grade_answer("right")
    require_outcome(name, graded, here)
    require_held(graded, here, containers=1)
    assert after.card.result.verdict == Verdict.PASSED, after.card.result.checks
    assert after.points == POINTS["right"]
    require_held(after, here, containers=1)
