"""An assignment of two functions, and a sandbox of this process: small enough to see through."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from harness import EntryPoint, Expected, Facet, Flaw, Judge, Level, Spec, Stage, criterion
from harness.candidate.session import DirectSession, SandboxSession
from harness.errors import SandboxBroken
from harness.intake.source_tree import SourceFile
from harness.intake.submission import Submission
from harness.results import Environment
from harness.sandbox.base import Frame, Limits, Memory, Sandbox, describe
from harness.worker import loader, wire
from harness.worker.session import CallRunner as WorkerSession


@criterion(facet=Facet.NUMERIC, hint="Multiply by two.")
def definition(double, draw, judge: Judge):
    """The output is twice the input.

    Whatever its shape.
    """
    inputs = [draw.normal(3), draw.normal(2, 2)]
    for returned, x in zip(double.each((x,) for x in inputs), inputs, strict=True):
        judge.close(returned["doubled"], Expected(2 * x, 4 * np.abs(x)), "doubled")


@criterion(facet=Facet.SHAPE, hint="Return the shape of the input.", earns_with="definition")
def shape(double, draw, judge: Judge):
    """The output has the shape of the input."""
    judge.shape(double(draw.normal(2, 5))["doubled"], (2, 5), "doubled")


@criterion(facet=Facet.BEHAVIOUR, hint="Work on a copy.", earns_with="definition")
def untouched(double, draw, judge: Judge):
    """The argument is left as it was."""
    x = draw.normal(4)
    (after,) = double.echoing(x).arguments_after
    judge.exactly(after, x, "x")


@criterion(facet=Facet.NUMERIC, hint="Add the numbers up.")
def total(total, draw, judge: Judge):
    """The total is the sum."""
    x = draw.normal(5)
    judge.close(total(x)["sum"], Expected(x.sum(), 8 * np.abs(x).sum()), "sum")


def assemble(parts):
    return {"double": parts["multiply"], "total": parts["add"]}


def expect(parts):
    def double(x):
        return (Expected(parts["multiply"](x), 4 * np.abs(x)),)

    def total(x):
        return (Expected(np.asarray(parts["add"](x)), 8 * np.abs(x).sum()),)

    return {"double": double, "total": total}


REFERENCE = MappingProxyType({"multiply": lambda x: x * 2, "add": lambda x: x.sum()})

TRIPLED = Flaw(
    id="tripled",
    title="a factor of three",
    stage=Stage.SCALE,
    parts={"multiply": lambda x: x * 3},
    caught_by=("definition",),
    question="What is twice one?",
    answer="Two.",
)

SPEC = Spec(
    name="toy",
    title="Twice a number",
    brief="Write `double(x)` and `total(x)`.\n",
    starter="def double(x):\n    ...\n",
    arrays="numpy",
    image="numpy",
    entry_points=(
        EntryPoint(role="double", name="double", parameters=("x",), returns=("doubled",)),
        EntryPoint(role="total", name="total", parameters=("x",), returns=("sum",)),
    ),
    checks=(
        definition.at(Level.PASS, points=5),
        shape.at(Level.PASS, points=1),
        untouched.at(Level.GOOD, points=2),
        total.at(Level.EXCELLENT, points=3),
    ),
    reference=REFERENCE,
    flaws=(TRIPLED,),
    assemble=assemble,
    expect=expect,
    fixtures=lambda draw: {},
)

RIGHT = "def double(x):\n    return x * 2\n\ndef total(x):\n    return x.sum()\n"
WRONG = RIGHT.replace("x * 2", "x * 3")


def right() -> dict[str, object]:
    return dict(SPEC.assemble(SPEC.reference))


def direct(**functions) -> DirectSession:
    """A session of the right functions, some of them replaced."""
    return DirectSession(right() | functions, arrays="numpy")


def submission(text: str = RIGHT, name: str = "answer") -> Submission:
    return Submission(
        id=name,
        sha256="0" * 64,
        origin="script",
        entry="answer.py",
        files=(SourceFile(name="answer.py", data=text.encode()),),
        notes=(),
    )


@dataclasses.dataclass
class Clock:
    """A clock that goes on when it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class FakeSandbox(Sandbox):
    """Runs our own functions in this process, except where the script says what happens.

    ``script`` holds, for each exchange in turn, an error to raise, a function from the request's
    header to a reply's header, or None: answer as a sandbox does.
    """

    def __init__(self, script=(), *, functions: Mapping[str, object] | None = None) -> None:
        self.script = list(script)
        self.functions = right() if functions is None else dict(functions)
        self.frames: list[dict[str, object]] = []
        self.seconds: list[float] = []
        self.starts = 0
        self.closed = 0
        self.is_worn = False
        self._worker: WorkerSession | None = None

    @property
    def environment(self) -> Environment:
        return describe(Limits(), {"python": "3"}, sandbox="fake", isolated=False)

    @property
    def tainted(self) -> bool:
        return self.is_worn

    def start(self, load: bytes, seconds: float) -> Frame:
        self.starts += 1
        loaded = loader.Loaded(dict(self.functions), frozenset(), {})
        self._worker = WorkerSession(loaded, 1 << 20, None)
        names = [{"name": name, "kind": "function"} for name in self.functions]
        return self._reply(
            load, seconds, lambda header, _: ({"loaded": "whole", "names": names}, [])
        )

    def call(self, frame: bytes, seconds: float) -> Frame:
        if self._worker is None:
            raise SandboxBroken("nothing was started")
        return self._reply(frame, seconds, self._worker.run)

    def _reply(self, frame, seconds, usual) -> Frame:
        header, payload = read(frame)
        self.frames.append(header)
        self.seconds.append(seconds)
        happening = self.script.pop(0) if self.script else None
        if isinstance(happening, BaseException):
            self._worker = None
            raise happening
        if happening is not None:
            return Frame({"id": header["id"]} | happening(header), memoryview(b""))
        answer, blobs = usual(header, payload)
        return Frame({"id": header["id"]} | answer, memoryview(b"".join(blobs)))

    def memory(self) -> Memory | None:
        return None

    def log(self) -> str:
        return "printed"

    def close(self) -> None:
        self.closed += 1


def read(frame: bytes):
    view = memoryview(frame)

    def receive(length):
        nonlocal view
        data, view = bytes(view[:length]), view[length:]
        return data

    _, header, payload = wire.read(receive, 1 << 30)
    return header, payload


def session(sandbox: Sandbox, clock=None, limits: Limits | None = None) -> SandboxSession:
    return SandboxSession(
        submission(),
        sandbox,
        limits or Limits(),
        arrays="numpy",
        blocked=False,
        clock=clock or Clock(),
    )
