"""What a check talks to: the submission's entry points, called across the wall.

An entry point is called like a function. Calls that do not depend on each other go in one
frame: ``attention.each([(q, k, v), (q, k, v, mask)])``. Every call and answer is recorded;
diagnosis and pictures work from the recording alone.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from harness.candidate.layer import Layer
from harness.candidate.weights import State, WeightLayout
from harness.errors import CandidateRaised, CheckFailed, ProtocolViolation
from harness.protocol import Answer, Call, Gradients, Output, Step, Tensor, Value
from harness.spec import EntryPoint, Spec, shape_name

Arguments = tuple[Value, ...]


class Session(Protocol):
    """One loaded submission: answers steps, in order."""

    @property
    def memory_noise(self) -> int:
        """Bytes by which two readings of ``measure`` may differ for equal calls."""

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Send the steps in one frame and return one answer for each.

        Raises:
            CandidateError: the submission's process did not survive, or answered garbage.
            SandboxBroken: ours did not.
        """

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Load afresh, run ``warm_up``, and then ``step``.

        Returns the answer to ``step`` and the bytes by which memory rose at most while it ran.

        Raises:
            NotMeasured: the sandbox cannot read how much memory the submission uses.
            CandidateError, SandboxBroken: as ``exchange``.
        """


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One call of an entry point and its answer."""

    check: str
    point: EntryPoint
    arguments: Arguments
    answer: Answer
    on: State | None = None  #: the object that was called, in the reference's terms

    @property
    def given(self) -> tuple[object, ...]:
        """What the reference is called with to do the same: the object's state comes first."""
        return self.arguments if self.on is None else (self.on, *self.arguments)

    @property
    def size(self) -> int:
        """Number of values that went in."""
        return sum(_values(argument).size for argument in self.arguments if is_array(argument))


class Recording:
    """The calls of one submission, as far as their outputs fit into memory.

    A reply has a cap of its own, but a submission gives hundreds. A call beyond the budget is
    judged as any other, and shown and explained no more.
    """

    #: The most that the calls of a reference return is 0.74 MiB (torch_sdpa).
    budget_bytes = 32 << 20

    def __init__(self) -> None:
        self.calls: list[Recorded] = []
        self._bytes = 0

    def add(self, recorded: Recorded) -> None:
        """Keep a call, if there is room for its outputs."""
        outs = recorded.answer.outs
        self._bytes += sum(out.values.nbytes for out in outs if isinstance(out, Tensor))
        if self._bytes <= self.budget_bytes:
            self.calls.append(recorded)

    def forget(self, check: str) -> None:
        """Leave out the calls of a check that is run again; what they took stays counted."""
        self.calls = [recorded for recorded in self.calls if recorded.check != check]


def is_array(value: object) -> bool:
    """Tell whether an argument is an array."""
    return isinstance(value, (np.ndarray, Tensor))


def _values(value: object) -> np.ndarray[Any, Any]:
    return value.values if isinstance(value, Tensor) else np.asarray(value)


def require_gradients(outs: Sequence[Output], of: Sequence[Value]) -> None:
    """Require a gradient of each array's own shape, or None where nothing depends on it.

    Torch gives no other, so that a worker which sends another is not ours any more.

    Raises:
        ProtocolViolation: there are more or fewer, or one is something else.
    """
    if len(outs) != len(of):
        raise ProtocolViolation(f"{len(outs)} gradients came back, expected {len(of)}")
    for out, argument in zip(outs, of, strict=True):
        shape = _values(argument).shape
        if out is not None and not (isinstance(out, Tensor) and out.values.shape == shape):
            raise ProtocolViolation(f"a gradient is not an array of shape {shape_name(shape)}")


def require_echo(echo: Sequence[Output], arguments: Sequence[Value]) -> None:
    """Require each argument of a call to have been sent back.

    Raises:
        ProtocolViolation: there are more or fewer.
    """
    if len(echo) != len(arguments):
        raise ProtocolViolation(f"{len(echo)} arguments were sent back, expected {len(arguments)}")


def _as_asked(made_of: Arguments) -> Arguments:
    return made_of


@dataclasses.dataclass(slots=True)
class SubmissionFacts:
    """What was found out about a submission, for all its checks."""

    #: Name of a class -> where it keeps its weights, or why that cannot be told.
    layouts: dict[str, WeightLayout | str] = dataclasses.field(default_factory=dict)
    #: Name of a class and what it was made of -> the first object: later ones have its parameters.
    made: dict[tuple[str, tuple[Value, ...]], Layer] = dataclasses.field(default_factory=dict)
    #: Name of a class -> which of several right forms it computes.
    forms: dict[str, int] = dataclasses.field(default_factory=dict)
    #: What is said about how the candidate writes, e.g. "projections" -> "q, k, v, out".
    conventions: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Its masks cannot differ between heads: they say nothing of heads, which are inside a layer.
    heads_alike: bool = False
    #: How many sources its class takes, at most: of fewer than the brief's, one serves as several.
    sources: int = 3
    masks: bool = True  #: it takes masks
    has_autograd: bool = True  #: its arrays are torch's, where the brief's are
    saw_brief: bool = True  #: it was written for the brief, so that it refuses what that says
    causal: bool = False  #: no query sees a later key, and there is no choice
    #: Sizes that the brief asks for -> those of what can be made; raises ``NotOffered``.
    offered: Callable[[Arguments], Arguments] = _as_asked
    #: It is our own reference, whose names are true: they need no trial.
    trust_parameter_names: bool = False
    #: Numbers of objects in the sandbox, each used once.
    numbers: Iterator[int] = dataclasses.field(default_factory=itertools.count)


def undefined_message(name: str) -> str:
    """Return what a check says of an entry point that is not there."""
    return f"the submission does not define {name}; the brief asks for it under that name"


class Returned(Mapping[str, Output]):
    """The outputs of one call, by the names that the brief gives them."""

    def __init__(self, point: EntryPoint, answer: Answer) -> None:
        self._point = point
        self._answer = answer

    def __getitem__(self, name: str) -> Output:
        names, outs = self._point.returns, self._answer.outs
        place = names.index(name)
        if place < len(outs):
            return outs[place]
        number = f"{len(outs)} value{'' if len(outs) == 1 else 's'}"
        raise CheckFailed(f"{self._point.name} returned {number}, expected ({', '.join(names)})")

    def __iter__(self) -> Any:
        return iter(self._point.returns)

    def __len__(self) -> int:
        return len(self._point.returns)

    @property
    def arguments_after(self) -> tuple[Output, ...]:
        """The arguments as they were after the call, when it was made with ``echoing``."""
        return self._answer.echo


class EntryPointProxy:
    """One entry point of the submission, as a check sees it."""

    def __init__(
        self,
        point: EntryPoint,
        session: Session,
        check: str,
        recording: Recording,
        missing: str,
        known: SubmissionFacts,
    ) -> None:
        self.point = self._point = point
        self.known = known
        self._session = session
        self._check = check
        self._recording = recording
        self._missing = missing

    def __call__(self, *arguments: Value) -> Returned:
        """Call it once.

        Raises:
            CandidateRaised: its code raised.
        """
        return next(self.each([arguments]))

    def each(self, calls: Iterable[Arguments]) -> Iterator[Returned]:
        """Make independent calls in one exchange and return their outputs in order.

        What one of them raised is raised when its turn comes: what was wrong before it counts.
        """
        return map(self._returned, self._exchange([self._call(given) for given in calls]))

    def _returned(self, answer: Answer) -> Returned:
        if answer.raised is not None:
            raise answer.raised
        return Returned(self._point, answer)

    def echoing(self, *arguments: Value) -> Returned:
        """Call it once and have the arguments sent back as they are afterwards."""
        step = Call(name=self._point.name, arguments=arguments, echo=True)
        (answer,) = self._exchange([step])
        if answer.raised is not None:
            raise answer.raised
        require_echo(answer.echo, arguments)
        return Returned(self._point, answer)

    def error(self, *arguments: Value) -> CandidateRaised | None:
        """Call it once and return what it raised, or None."""
        return self._exchange([self._call(arguments)])[0].raised

    @property
    def memory_noise(self) -> int:
        """Bytes by which the readings of ``measured`` may differ for equal calls."""
        return self._session.memory_noise

    def measured(self, arguments: Arguments, *, after: Arguments) -> tuple[Returned, int]:
        """Call it once in a fresh process, after a small call that warms it up.

        Returns the outputs and the bytes by which memory rose at most during the call, which is
        not recorded: it is large, and shows nothing that a smaller one does not.
        """
        self._require_defined()
        answer, risen = self._session.measure(self._call(after), self._call(arguments))
        if answer.raised is not None:
            raise answer.raised
        return Returned(self._point, answer), risen

    def gradients(
        self, arguments: Arguments, cotangents: Sequence[np.ndarray[Any, Any] | Tensor | None]
    ) -> tuple[Output, ...]:
        """Return the gradients of Σ output·cotangent with respect to each array of floats."""
        of = tuple(
            place
            for place, argument in enumerate(arguments)
            if is_array(argument) and _values(argument).dtype.kind == "f"
        )
        step = Gradients(
            name=self._point.name, arguments=arguments, cotangents=tuple(cotangents), of=of
        )
        (answer,) = self.send([step])
        if answer.raised is not None:
            raise answer.raised
        require_gradients(answer.outs, [arguments[place] for place in of])
        return answer.outs

    def _call(self, arguments: Arguments) -> Call:
        return Call(name=self._point.name, arguments=arguments)

    def _exchange(self, steps: Sequence[Call]) -> list[Answer]:
        answers = [self._declared(answer) for answer in self.send(steps)]
        for step, answer in zip(steps, answers, strict=True):
            self._recording.add(
                Recorded(
                    check=self._check, point=self._point, arguments=step.arguments, answer=answer
                )
            )
        return answers

    def _declared(self, answer: Answer) -> Answer:
        """Leave out what a call returned beyond what the brief asks for: nothing looks at it."""
        return dataclasses.replace(answer, outs=answer.outs[: len(self._point.returns)])

    def send(self, steps: Sequence[Step]) -> list[Answer]:
        """Exchange steps of any kind, without a record of them.

        Raises:
            CheckFailed: the submission does not define this entry point.
        """
        self._require_defined()
        return self._session.exchange(steps)

    def record(self, arguments: Arguments, answer: Answer, on: State) -> None:
        """Record a call of an object."""
        self._recording.add(
            Recorded(check=self._check, point=self.point, arguments=arguments, answer=answer, on=on)
        )

    def _require_defined(self) -> None:
        if self._missing:
            raise CheckFailed(self._missing)


class Candidate:
    """A loaded submission: hands out its entry points, and keeps the recording."""

    def __init__(
        self,
        spec: Spec,
        session: Session,
        defined: frozenset[str] | None = None,
        known: SubmissionFacts | None = None,
    ) -> None:
        self._spec = spec
        self._session = session
        self._defined = defined
        self._recording = Recording()
        self.known = known or SubmissionFacts()

    @property
    def recording(self) -> list[Recorded]:
        """The calls so far, in order."""
        return self._recording.calls

    def forget_calls(self, check: str) -> None:
        """Leave the calls of a check that is run again out of the recording."""
        self._recording.forget(check)

    @property
    def session(self) -> Session:
        """What answers the checks."""
        return self._session

    def entry_points(
        self, check: str, session: Session | None = None
    ) -> dict[str, EntryPointProxy]:
        """Return the entry points by role, for one check, and perhaps in a session of its own."""
        asked = session or self._session
        return {
            point.role: EntryPointProxy(
                point, asked, check, self._recording, self._missing(point.name), self.known
            )
            for point in self._spec.entry_points
        }

    def _missing(self, name: str) -> str:
        if self._defined is None or name in self._defined:
            return ""
        return undefined_message(name)
