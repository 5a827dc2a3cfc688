"""What a job of a batch does, in a process of its own: a task in, a card out, both as bytes."""

from __future__ import annotations

import dataclasses
import functools
import gc
import hashlib
import importlib
import importlib.metadata
import platform
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

import harness
import specs
from harness.candidate import QuestionSheet
from harness.errors import SandboxBroken, UsageError
from harness.grading import Assignment, BatchRecord, Grader, Task, Terms, settle
from harness.own_tests import SECONDS, run_own_tests
from harness.parsing import Parser
from harness.repair import RepairFinder
from harness.results import Card, Environment
from harness.sandbox import LIMITS, Limits, OpenSandbox, opener
from harness.settings import LimitChanges
from harness.spec import Spec

if TYPE_CHECKING:
    from harness.sandbox.container import OwnTestsImage


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """How the submissions of a batch are to be graded: what a job has to know."""

    spec: str
    seed: str
    sandbox: str
    runtime: str | None
    adapt: bool
    reuse: bool  #: changes no card
    image: str = ""  #: id of the image to run in, where it is not the harness's present one
    library: str = ""  #: "torch" where some answers are in torch though the brief is in numpy
    terms: Terms = Terms()
    limits: LimitChanges = LimitChanges()

    def limits_of(self, spec: Spec) -> Limits:
        """Return the limits of each submission."""
        return dataclasses.replace(LIMITS[self.library or spec.image], **self.limits.changes())


#: What each thread keeps from one submission to the next: functions are all an executor calls.
#: A local job has one thread, a worker of a cluster perhaps several.
_GRADERS: Final[dict[tuple[int, bytes], Grader]] = {}


def grade_task(order: bytes, task: bytes) -> bytes:
    """Grade one submission by an order, and return its card as JSON.

    Raises:
        SandboxBroken: no sandbox can be opened.
    """
    card = _grader_of(order).grade(Task.decode(task))
    return msgspec.json.encode(settle(card, msgspec.msgpack.decode(order, type=Order).terms))


def repair_task(order: bytes, work: bytes) -> bytes:
    """Look for a repair of a submission that is graded, and return its card as JSON.

    ``work`` is what ``card_work`` makes.

    Raises:
        SandboxBroken: no sandbox can be opened.
    """
    graded, task = msgspec.msgpack.decode(work, type=tuple[bytes, bytes])
    card, grader = msgspec.json.decode(graded, type=Card), _grader_of(order)
    assignment, find_repair = grader.assignment, RepairFinder()
    submission = Task.decode(task).load(assignment.parser)
    card = grader.use(lambda sandbox: find_repair(card, submission, assignment, sandbox))
    return msgspec.json.encode(card)


def own_tests_task(order: bytes, work: bytes) -> bytes:
    """Run the own tests of a submission that is graded, and return its card as JSON.

    ``work`` is what ``card_work`` makes.

    Raises:
        SandboxBroken: no container can be started, or it broke.
    """
    graded, task = msgspec.msgpack.decode(work, type=tuple[bytes, bytes])
    wanted = msgspec.msgpack.decode(order, type=Order)
    spec, card = specs.load(wanted.spec), msgspec.json.decode(graded, type=Card)
    with Parser() as parser:
        submission = Task.decode(task).load(parser)
    with prepare_test_image(spec, wanted).open(SECONDS) as container:
        tests = run_own_tests(submission, spec, container)
    return msgspec.json.encode(msgspec.structs.replace(card, own_tests=tests))


def prepare_test_image(
    spec: Spec, order: Order, report: Callable[[str], None] = lambda line: None
) -> OwnTestsImage:
    """Make the image ready in which candidates' own tests run.

    Raises:
        SandboxUnavailable: no engine answers, or the image cannot be built.
    """
    container = importlib.import_module("harness.sandbox.container")  # loads the engine's SDK
    image: OwnTestsImage = container.prepare_test_image(
        spec.image, LIMITS[spec.image], runtime=order.runtime, report=report
    )
    return image


def card_work(card: Card, task: bytes) -> bytes:
    """Return a card and the task that it was made from, for what is done after the verdict."""
    return msgspec.msgpack.encode((msgspec.json.encode(card), task))


def work_elsewhere(
    work: Callable[[bytes, bytes], bytes], identity: Mapping[str, str], order: bytes, task: bytes
) -> bytes:
    """Do what a job does on a worker that may have joined the cluster only now.

    Raises:
        SandboxBroken: it would grade by something else than ``identity``, or opens no sandbox.
    """
    own = identify(order)
    if own != identity:
        raise SandboxBroken(f"a worker that joined grades by {own}, expected {dict(identity)}")
    return work(order, task)


def _grader_of(order: bytes) -> Grader:
    """Return the grader that this thread has open for an order."""
    thread = threading.get_ident()
    grader = _GRADERS.get((thread, order))
    if grader is None:
        for key in [key for key in _GRADERS if key[0] == thread]:
            _close(_GRADERS.pop(key))
        grader = _make_grader(msgspec.msgpack.decode(order, type=Order))
        _GRADERS[thread, order] = grader
    return grader


@functools.lru_cache(maxsize=4)
def identify(order: bytes) -> dict[str, str]:
    """Return what submissions are graded by here: versions, code, image.

    Raises:
        TakehomeError: there is no such spec or sandbox here.
    """
    wanted = msgspec.msgpack.decode(order, type=Order)
    spec = specs.load(wanted.spec)
    environment = open_sandboxes(spec, wanted)().environment
    return {
        **versions(),
        "code of spec and harness": digest_of_code(wanted.spec),
        "image": environment.image,
    }


def close() -> None:
    """Close the sandboxes and parsers that this process has open."""
    while _GRADERS:
        _close(_GRADERS.popitem()[1])


def _close(grader: Grader) -> None:
    grader.close()
    grader.assignment.parser.close()


def _make_grader(order: Order) -> Grader:
    spec = specs.load(order.spec)
    make_ready(spec)
    return Grader(make_assignment(spec, order), open_sandboxes(spec, order), reuse=order.reuse)


def make_assignment(spec: Spec, order: Order) -> Assignment:
    """Return what the submissions are graded by."""
    return Assignment(
        spec=spec,
        seed=order.seed,
        limits=order.limits_of(spec),
        sheet=QuestionSheet(order.seed),
        parser=Parser(),  # its child starts when it is needed, and ends with this process
        adapt=order.adapt and not spec.is_written,
    )


def open_sandboxes(
    spec: Spec, order: Order, report: Callable[[str], None] = lambda line: None
) -> OpenSandbox:
    """Make the sandbox of an order ready; return a function that opens one."""
    limits = order.limits_of(spec)
    if order.image:
        container = importlib.import_module("harness.sandbox.container")
        opened: OpenSandbox = container.opener_of(order.image, limits, runtime=order.runtime)
        return opened
    return opener(
        order.sandbox,
        order.library or spec.image,
        limits=limits,
        runtime=order.runtime,
        report=report,
    )


def make_ready(spec: Spec) -> None:
    """Load what diagnosis needs before the first submission, which would wait 1 s for torch.

    It stays loaded: once frozen, no garbage collection looks through it again, which takes 50 ms
    with torch.
    """
    if spec.arrays == "torch":
        importlib.import_module("torch")
    gc.freeze()


def preloads(spec: Spec, name: str) -> list[str]:
    """Return the modules that every job of a spec needs."""
    own = [f"specs.{name}"] if name in specs.TITLES else []
    return [__name__, *own, *(["torch"] if spec.arrays == "torch" else [])]


def versions() -> dict[str, str]:
    """Return the versions on this host that a card depends on."""
    packages = ("takehome", "numpy", "torch", "msgspec", "pygments")
    return {
        "python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in packages},
    }


def make_record(spec: Spec, order: Order, environment: Environment) -> BatchRecord:
    """Return what a batch keeps, so that its verdicts can be made again."""
    return BatchRecord(
        spec=order.spec,
        brief=spec.brief,
        code=digest_of_code(order.spec),
        order=msgspec.msgpack.encode(order),
        environment=environment,
        versions=versions(),
    )


def basis(order: Order, environment: Environment, interface: bytes = b"") -> bytes:
    """Return all that a card depends on besides the submission.

    ``interface`` is the file that says how to talk to it, where there is one.
    """
    settings = msgspec.structs.replace(order, reuse=False)
    code = digest_of_code(order.spec)
    return msgspec.msgpack.encode((settings, environment, code, versions(), interface))


@functools.cache
def digest_of_code(spec: str) -> str:
    """Return a digest of the spec's files and the harness's, in hexadecimal."""
    digest = hashlib.sha256()
    for path in (*sorted(Path(harness.__file__).parent.rglob("*.py")), *specs.files(spec)):
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror})") from None
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
