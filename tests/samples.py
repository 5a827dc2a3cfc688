"""The samples and the cases of the corpus, and how to run one in a process that has torch already.

Not for the ``bad_`` ones: this is no sandbox.
"""

import atexit
import contextlib
import dataclasses
import functools
import importlib
import shutil
import sys
import tempfile
import time
import tomllib
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker

import specs
from harness.candidate.checks import level_reached, run_checks, verdict
from harness.candidate.session import SandboxSession
from harness.errors import CandidateError
from harness.grading.grader import Grader
from harness.grading.grading import Assignment
from harness.intake.deliveries import Delivery, collect
from harness.parsing.client import Parser
from harness.results import Card, CheckResult, Environment
from harness.sandbox.base import LIMITS, Frame, Limits, Memory, Sandbox, describe
from harness.sandbox.choice import OpenSandbox, opener
from harness.sandbox.container.images import ensure_image
from harness.sandbox.container.sandbox import ContainerSandbox
from harness.sandbox.reading import ReadingSandbox
from harness.worker import fused, loader
from harness.worker.session import CallRunner as WorkerSession
from tests import corpus
from tests.toy import read

#: What the images lack, by what their arguments are made of.
ABSENT = {"numpy": ("torch", "scipy"), "torch": ("scipy",)}
FOLDER = Path(__file__).parent.parent / "sample_submissions"


@dataclasses.dataclass(frozen=True)
class Sample:
    """One submission of a folder, and what grading it must come to."""

    spec: str
    id: str
    path: Path
    expected: dict[str, object]

    def __str__(self) -> str:
        return f"{self.spec}-{self.id}"

    @property
    def kind(self) -> str:
        """right, wrong, bad or source."""
        return self.id.partition("_")[0]


@functools.cache
def folders() -> tuple[Path, Path]:
    """Return the samples' folder, and one with the corpus, written for as long as this runs."""
    written = Path(tempfile.mkdtemp(prefix="takehome-corpus-"))
    atexit.register(shutil.rmtree, written)
    corpus.write(written)
    return FOLDER, written


@functools.cache
def expectations(spec: str) -> dict[str, dict[str, object]]:
    """What the files ``expected.toml`` say, by the submissions' ids."""
    expected: dict[str, dict[str, object]] = {}
    for folder in folders():
        path = folder / spec / "expected.toml"
        if path.exists():
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            assert not table.keys() & expected.keys()
            expected |= table
    return expected


@functools.cache
def samples() -> tuple[Sample, ...]:
    """Every sample and every case of the corpus, of every assignment."""
    return tuple(
        Sample(name, delivery.id, delivery.path, expectations(name).get(delivery.id, {}))
        for name in specs.TITLES
        for folder in folders()
        if (folder / name).exists()
        for delivery in collect([folder / name], texts=specs.load(name).image == "text").deliveries
    )


def paths(spec: str, pattern: str) -> list[Path]:
    """Return where those samples and cases of an assignment lie whose names fit a pattern."""
    fitting = (s.path for s in samples() if s.spec == spec and s.path.match(pattern))
    return sorted(fitting, key=lambda path: path.name)


def path_of(spec: str, identifier: str) -> Path:
    """Return where a sample or a case of the corpus lies."""
    (path,) = (s.path for s in samples() if (s.spec, s.id) == (spec, identifier))
    return path


class InlineSandbox(Sandbox):
    """Runs a submission in this very process, for one that is forked for it."""

    def __init__(self) -> None:
        self._worker: WorkerSession | None = None

    @property
    def environment(self) -> Environment:
        return describe(Limits(), {}, sandbox="inline", isolated=False)

    def start(self, load: bytes, seconds: float) -> Frame:
        header, payload = read(load)
        for absent in ABSENT[header["arrays"]]:
            sys.modules[absent] = None
        # A forkserver that another test has started may have preloaded nothing.
        torch = None if header["arrays"] == "numpy" else importlib.import_module("torch")
        blocked = fused.block() if header["blocked"] else None
        loaded = loader.load(header, payload)
        self._worker = WorkerSession(loaded, 64 << 20, torch, blocked)
        return Frame({"id": header["id"], **loaded.reply}, memoryview(b""))

    def call(self, frame: bytes, seconds: float) -> Frame:
        assert self._worker is not None
        header, blobs = self._worker.run(*read(frame))
        return Frame(header, memoryview(b"".join(blobs)))

    def memory(self) -> Memory | None:
        """What this process has allocated, since the first reading on."""
        if not tracemalloc.is_tracing():
            tracemalloc.start()
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        return Memory(now=now, peak=peak)

    def log(self) -> str:
        return ""

    def close(self) -> None:
        pass


#: Deadlines of those of which it is known that they never end, and of the others: how busy the
#: machine is must not change what a sample comes to.
IMPATIENT = {"import_seconds": 4.0, "exchange_seconds": 1.5}
PATIENT = {"import_seconds": 60.0, "exchange_seconds": 30.0, "submission_seconds": 300.0}


def grade(
    name: str, chosen: Sequence[Sample], seed: str, client: docker.DockerClient
) -> dict[str, Card]:
    """Grade samples of one assignment in containers, each of which serves many of them."""
    spec = specs.load(name)
    cards = {}
    for impatient in (False, True):
        some = [sample for sample in chosen if ("loop-" in sample.id) is impatient]
        limits = dataclasses.replace(LIMITS[spec.image], **(IMPATIENT if impatient else PATIENT))
        deliveries = [Delivery(id=s.id, path=s.path, text=spec.image == "text") for s in some]
        with Parser() as parser, ThreadPoolExecutor(2) as jobs:
            assignment = Assignment(spec=spec, seed=seed, limits=limits, parser=parser)
            open_sandbox = _opener(spec.image, limits, client)
            shares = [deliveries[::2], deliveries[1::2]]
            grade_share = functools.partial(_graded, assignment, open_sandbox)
            for share in jobs.map(grade_share, shares):
                cards |= {card.result.id: card for card in share}
    return cards


def _graded(
    assignment: Assignment, open_sandbox: OpenSandbox, deliveries: Sequence[Delivery]
) -> list[Card]:
    with contextlib.closing(Grader(assignment, open_sandbox, reuse=True)) as grader:
        return [grader.grade(delivery) for delivery in deliveries]


def _opener(image: str, limits: Limits, client: docker.DockerClient) -> OpenSandbox:
    if image == "text":
        return opener("container", image)
    ready = ensure_image(client, f"takehome-{image}")
    return lambda: ContainerSandbox(client=client, image=ready, limits=limits)


def run(sample: Sample, seeds: Sequence[str]) -> list[tuple[CheckResult, ...]]:
    """Load a sample once and run every check over each of the seeds."""
    spec = specs.load(sample.spec)
    written = spec.image == "text"
    (delivery,) = collect([sample.path], single=True, texts=written, asked=spec.asked).deliveries
    session = SandboxSession(
        delivery.load(),
        ReadingSandbox() if written else InlineSandbox(),
        Limits(submission_seconds=3600.0 * len(seeds)),
        arrays=spec.arrays,
        blocked=spec.blocks_fused,
        clock=time.monotonic,
    )
    try:
        defined = session.load().names & {point.name for point in spec.entry_points}
    except CandidateError:
        defined = None
    return [run_checks(spec, session, seed, defined)[0] for seed in seeds]


def disagreements(sample: Sample, checks: Sequence[CheckResult]) -> list[str]:
    """In which ways the checks of a sample differ from what is expected of it."""
    expected = sample.expected
    found = []
    awaits = bool(specs.load(sample.spec).questions)  # whatever a machine has read of it
    came_to = {
        "verdict": "awaiting_review" if awaits else str(verdict(checks)),
        "level": str(level_reached(checks)),
        "earned": sum(check.earned for check in checks),
    }
    for key, value in came_to.items():
        if key in expected and value != expected[key]:
            found.append(f"{key} is {value}, expected {expected[key]}")
    not_passed = {check.id: check for check in checks if check.outcome != "passed"}
    for identifier in expected.get("fails", ()):
        if identifier not in not_passed:
            found.append(f"{identifier} passed")
    for check in checks if found else ():
        if check.outcome != "passed":
            found.append(f"{check.id} {check.outcome}: {check.message}")
    return found
