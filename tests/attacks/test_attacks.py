"""Every attack of the corpus comes to what its case says, and the next honest answer is right.

A folder here holds a submission, ``answer.py``, and ``case.toml``: the ``verdict``, the most that
may be ``earned`` (what the same code earns without the attack), ``outcomes`` that checks must
have. They answer the toy assignment of ``tests/toy.py``, so that a case costs a tenth of a second:
what is attacked is the sandbox and the protocol, not an assignment.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tomllib
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from harness.grading.grader import Grader
from harness.grading.grading import Assignment
from harness.intake.deliveries import Delivery
from harness.parsing.client import Parser
from harness.results import Card, Outcome, Verdict, to_json
from harness.sandbox.base import Limits
from harness.sandbox.container import reaper
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import ensure_image
from harness.sandbox.container.sandbox import ContainerSandbox
from tests import toy

FOLDER = Path(__file__).parent
CASES = sorted(path.parent for path in FOLDER.glob("*/case.toml"))
KEYS = {"kind", "verdict", "earned", "outcomes", "slow"}
CANARY = secrets.token_hex(16)
LIMITS = Limits(
    import_seconds=4.0,
    exchange_seconds=3.0,
    submission_seconds=30.0,
    timeouts=1,
    memory_bytes=256 << 20,
    log_bytes=1 << 20,
)


def expectation(case: Path) -> dict[str, object]:
    return tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="module")
def grader(client: docker.DockerClient) -> Iterator[Grader]:
    image = ensure_image(client, "takehome-numpy")
    os.environ["TAKEHOME_CANARY"] = CANARY
    with Parser() as parser:
        assignment = Assignment(spec=toy.SPEC, seed="7", limits=LIMITS, parser=parser)
        grader = Grader(
            assignment,
            lambda: ContainerSandbox(client=client, image=image, limits=LIMITS),
            reuse=True,
        )
        with contextlib.closing(grader):
            yield grader
    del os.environ["TAKEHOME_CANARY"]


def graded(grader: Grader, path: Path) -> Card:
    return grader.grade(Delivery(id=path.parent.name, path=path, text=False))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "answer.py"
    path.write_text(f"import os\nopen('/dev/stderr', 'w').close()\n{toy.RIGHT}", encoding="utf-8")
    return path


@pytest.mark.docker
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] * bool(expectation(case).get("slow")))
        for case in CASES
    ],
)
def test_an_attack_gains_nothing_and_hurts_nobody(
    case: Path, grader: Grader, honest: Path
) -> None:
    expected = expectation(case)
    card = graded(grader, case / "answer.py")
    outcomes = {check.outcome for check in card.result.checks}
    assert card.result.verdict == expected["verdict"], card.result.reason
    assert sum(check.earned for check in card.result.checks) <= expected["earned"]
    assert outcomes >= set(expected.get("outcomes", ()))
    assert Outcome.INVALID not in outcomes
    assert CANARY not in to_json(card).decode()
    after = graded(grader, honest)
    assert after.result.verdict == Verdict.PASSED, after.result.checks
    assert sum(check.earned for check in after.result.checks) == 11


@pytest.mark.docker
def test_a_wrong_answer_fails_here_too(grader: Grader, tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(toy.WRONG, encoding="utf-8")
    card = graded(grader, path)
    assert card.result.verdict == Verdict.FAILED


@pytest.mark.docker
def test_no_container_is_left(client: docker.DockerClient, grader: Grader) -> None:
    grader.close()
    own = reaper.labels(0)[reaper.PROCESS_LABEL]
    left = client.api.containers(all=True, filters={"label": f"{reaper.PROCESS_LABEL}={own}"})
    assert not left


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_what_it_comes_to(case: Path) -> None:
    expected = expectation(case)
    assert KEYS >= expected.keys() >= {"kind", "verdict", "earned"}
    assert expected["verdict"] in set(Verdict)
    assert set(expected.get("outcomes", ())) <= set(Outcome)
    assert (case / "answer.py").is_file()
