"""Grades attacks as the harness grades submissions, and measures what they did to the host."""

from __future__ import annotations

import dataclasses
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import msgspec

from harness.candidate import run_checks
from harness.candidate_view import for_candidate
from harness.grading import Assignment, Grader
from harness.intake import Delivery
from harness.parsing import Parser
from harness.results import Card, Outcome, to_json
from harness.sandbox import Limits
from harness.sandbox.container import ContainerSandbox, ensure_image, labels, reaper
from tests import toy
from tests.attacks import cases

LIMITS = Limits(
    start_seconds=60.0,
    import_seconds=4.0,
    exchange_seconds=3.0,
    submission_seconds=15.0,
    timeouts=1,
    memory_bytes=256 << 20,
    log_bytes=1 << 20,
)
TORCH_LIMITS = dataclasses.replace(LIMITS, memory_bytes=1 << 30, processes=256, import_seconds=9.0)

#: So much later than its budget may a submission be done, and so much may the host's memory grow.
LATE_SECONDS = 5.0
GROWTH_BYTES = 200 << 20

#: The honest ones: what is earned without an attack.
RIGHT = f"import os\nopen('/dev/stderr', 'w').close()\n{toy.RIGHT}"
ANSWERS = {"right": RIGHT, "wrong": toy.WRONG}
POINTS = {"right": 11, "wrong": 6}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Graded:
    """The card of an attack, and what it left on the host."""

    card: Card
    points: float
    growth: int  #: of the harness's memory, at its highest, in bytes
    containers: int  #: that are still there
    changes: frozenset[str]  #: files of the host that came, went or changed


class AttackedHost:
    """A harness with secrets, in a folder that it has for itself."""

    def __init__(self, client: docker.DockerClient, root: Path, *, reuse: bool, image: str) -> None:
        self._client = client
        self._root = root
        self._reuse = reuse
        self._canaries = [secrets.token_hex(16) for _ in range(3)]
        in_environment, in_file, self._seed = self._canaries
        os.environ["TAKEHOME_CANARY"] = in_environment
        self.canary = root / "secret.txt"
        self.canary.write_text(in_file, encoding="utf-8")
        self.handed_in = root / "handed-in"
        self.handed_in.mkdir()
        self.limits = TORCH_LIMITS if image == "torch" else LIMITS
        spec = dataclasses.replace(
            toy.SPEC, arrays=image, image=image, blocks_fused=image == "torch"
        )
        self._expected = expected_values(self._seed)
        self._parser = Parser()
        built = ensure_image(client, f"takehome-{image}")
        self._grader = Grader(
            Assignment(spec=spec, seed=self._seed, limits=self.limits, parser=self._parser),
            lambda: ContainerSandbox(client=client, image=built, limits=self.limits),
            reuse=reuse,
        )

    def grade_case(self, name: str) -> Graded:
        """Grade a case of the corpus."""
        return self._measured(name, cases.deliver(name, self.handed_in, self.canary))

    def grade_answer(self, name: str) -> Graded:
        """Grade an honest answer."""
        path = self.handed_in / name
        path.mkdir(exist_ok=True)
        (path / "answer.py").write_text(ANSWERS[name], encoding="utf-8")
        return self._measured(name, path)

    def _measured(self, name: str, path: Path) -> Graded:
        before, resting = self._files(), _forget_peak()
        card = self._grader.grade(Delivery(id=name, path=path, asked=toy.SPEC.asked))
        return Graded(
            card=card,
            points=sum(check.earned for check in card.result.checks),
            growth=_peak() - resting,
            containers=self.containers(),
            changes=frozenset(path for path, _ in before ^ self._files()),
        )

    def _files(self) -> frozenset[tuple[str, tuple[float, ...]]]:
        """Return the path, size and time of every file in the folder of this harness."""
        paths = (path for path in self._root.rglob("*") if not path.is_dir())
        return frozenset((str(path), path.lstat()[6:9:2]) for path in paths)

    def containers(self) -> int:
        """Return how many containers of this process there are."""
        wanted = {"label": f"{reaper.PROCESS_LABEL}={labels(0)[reaper.PROCESS_LABEL]}"}
        return len(self._client.api.containers(all=True, filters=wanted))

    def leaks(self, card: Card) -> list[str]:
        """Return what of the host's secrets the card, or what its author sees, holds."""
        told = msgspec.json.encode(for_candidate(card)).decode()
        whole = to_json(card).decode()
        found = [secret for secret in self._canaries if secret in whole or secret in told]
        return found + [value for value in self._expected if value in told]

    def close(self) -> None:
        """Close sandbox and parser."""
        self._grader.close()
        self._parser.close()
        del os.environ["TAKEHOME_CANARY"]


def require_held(graded: Graded, host: AttackedHost, *, containers: int) -> None:
    """Check what holds after every submission, whatever it did."""
    result = graded.card.result
    limits = host.limits
    assert {check.outcome for check in result.checks}.isdisjoint({Outcome.INVALID})
    assert host.leaks(graded.card) == []
    assert not graded.changes
    assert not os.listdir(".")
    assert graded.growth < GROWTH_BYTES
    assert graded.containers <= containers
    assert result.seconds < limits.import_seconds + limits.submission_seconds + LATE_SECONDS


def require_outcome(name: str, graded: Graded, host: AttackedHost) -> None:
    """Check that a case came to what it says, and earned no more than without the attack."""
    case, result = cases.CASES[name], graded.card.result
    assert result.verdict in case.verdicts, (result.reason, result.checks)
    assert {check.outcome for check in result.checks} >= set(case.outcomes)
    assert graded.points <= min(case.earned, POINTS[case.without])


def red(name: str, graded: Graded, host: AttackedHost, *, containers: int) -> str:
    """Return what does not hold of a case, or nothing."""
    try:
        require_outcome(name, graded, host)
        require_held(graded, host, containers=containers)
    except AssertionError as error:
        return str(error) or "red"
    return ""


def expected_values(seed: str) -> list[str]:
    """Return what right answers are with that seed, as they would be written."""
    values: list[str] = []

    def recorded(function):
        def call(x):
            returned = function(x)
            values.extend(repr(float(value)) for value in returned.reshape(-1))
            return returned

        return call

    functions = {name: recorded(function) for name, function in toy.right().items()}
    run_checks(toy.SPEC, toy.direct(**functions), seed)
    return values


@contextmanager
def own_temporary_folder(folder: Path) -> Iterator[Path]:
    """Let this process, and those that it starts, have their temporary files in ``folder``."""
    before, here = os.environ.get("TMPDIR"), os.getcwd()
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    os.chdir(folder)
    yield folder
    os.chdir(here)
    tempfile.tempdir = None
    if before is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before


def _forget_peak() -> int:
    """Count the peak of this process's memory anew; return what it has now, in bytes."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _peak()


def _peak() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise LookupError("/proc/self/status does not tell VmHWM")
