"""Five hundred submissions in one batch, attacks among honest answers, leave the host as it was."""

from __future__ import annotations

import os
import platform
import threading
from pathlib import Path

import docker
import pytest

from harness.commands.batch_run import Repairs
from harness.commands.grade import Request, grade_batch
from harness.results import SubmissionResult, Verdict
from harness.sandbox.container import labels, reaper
from tests import toy
from tests.attacks.cases import CASES, deliver
from tests.attacks.grading import POINTS, RIGHT, own_temporary_folder

pytestmark = [pytest.mark.docker, pytest.mark.slow]

SUBMISSIONS = 500
SPEC = Path(toy.__file__)

#: What the process that leads a batch may keep of one: interned names, compiled patterns.
GROWTH_BYTES = 20 << 20


def hand_in(folder: Path, count: int) -> None:
    """Make so many submissions in ``folder``: each attack of numpy's image, the others honest."""
    canary = folder.parent / "secret.txt"
    canary.write_text("never to be seen", encoding="utf-8")
    attacks = [
        name
        for name, case in CASES.items()
        if case.image == "numpy" and case.machine in ("", platform.machine())
    ][: count // 2]
    folder.mkdir()
    for name in attacks:
        deliver(name, folder, canary)
    for index in range(count - len(attacks)):
        # The first letter spreads them among the attacks: a batch is graded in the order of names.
        person = folder / f"{'ABCDEFGHIS'[index % 10]}_honest_{index:03d}"
        person.mkdir()
        (person / "answer.py").write_text(f"# person {index}\n{RIGHT}", encoding="utf-8")


def grade(folder: Path, out: Path, *, reuse: bool) -> list[SubmissionResult]:
    """Grade all of a folder as ``takehome grade --jobs 2`` does."""
    request = Request(
        paths=(folder,),
        spec=str(SPEC),
        out=out,
        jobs=2,
        sandbox="container",
        reuse=reuse,
        runtime=None,
        seed=None,
        fresh=False,
        single=False,
        adapt=False,
        for_candidates=False,
        repairs=Repairs.NONE,
    )
    return list(grade_batch(request, say=lambda line: None))


def shims() -> set[str]:
    """Return the ids of the containers that a shim process keeps."""
    found = set()
    for command_line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command_line.read_bytes().split(b"\0")
        except OSError:
            continue  # it ended meanwhile
        if b"containerd-shim" in words[0] and b"-id" in words:
            found.add(words[words.index(b"-id") + 1].decode())
    return found


def orphaned_shims(client: docker.DockerClient) -> set[str]:
    """Return the shims whose container the engine no longer knows.

    Others may use the engine meanwhile: what comes or goes between two looks is theirs.
    """
    before = shims()
    known = {container["Id"] for container in client.api.containers(all=True)}
    return (before & shims()) - known


def resident_bytes() -> int:
    """Return what this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def held_resources() -> dict[str, int]:
    """Return what this process holds that a batch must give back."""
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
    }


@pytest.mark.parametrize("reuse", [True, False], ids=["reuse", "fresh"])
def test_a_long_hostile_batch_leaves_nothing_and_grades_the_honest_right(
    client: docker.DockerClient, tmp_path: Path, reuse: bool
) -> None:
    hand_in(tmp_path / "few", 20)
    hand_in(tmp_path / "many", SUBMISSIONS)
    (tmp_path / "temporary").mkdir()
    with own_temporary_folder(tmp_path / "temporary"):
        grade(tmp_path / "few", tmp_path / "first", reuse=reuse)  # makes what is made once
        # The folder of multiprocessing's own sockets stays until the process ends.
        made_once = os.listdir(".")
        before, resting = held_resources(), resident_bytes()
        results = grade(tmp_path / "many", tmp_path / "out", reuse=reuse)
        assert held_resources() == before
        assert resident_bytes() - resting < GROWTH_BYTES
        assert os.listdir(".") == made_once
    wanted = {"label": f"{reaper.PROCESS_LABEL}={labels(0)[reaper.PROCESS_LABEL]}"}
    assert client.api.containers(all=True, filters=wanted) == []
    assert orphaned_shims(client) == set()
    assert len(results) == SUBMISSIONS
    assert [result.id for result in results if result.verdict == Verdict.INVALID] == []
    honest = [result for result in results if "_honest_" in result.id]
    assert {(result.verdict, result.earned) for result in honest} == {
        (Verdict.PASSED, POINTS["right"])
    }
    for case, result in ((CASES[it.id], it) for it in results if it.id in CASES):
        assert (result.earned or 0) <= POINTS[case.without], result.id
        # What exceeds a resource depends on the limits, which are wider here than in the cases.
        assert result.verdict in case.verdicts or case.kind == "resources", result.id
