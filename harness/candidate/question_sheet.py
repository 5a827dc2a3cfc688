"""The question sheet of a batch: what the checks draw and ask, made once for all submissions.

A check asks in several steps: it calls, compares, and calls again. What it asks depends on the
seed and the spec alone, but for calls that are made of earlier answers. The sheet finds out
which: it runs a check against the reference, and once more with answers that are changed. What
both runs ask, to the first difference, goes to a submission in one frame; the check then finds its
answers there as it comes to them. No answer of the reference is ever part of a frame.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate.functions import Session
from harness.errors import NotOffered
from harness.protocol import (
    Answer,
    Call,
    Gradients,
    Handle,
    Output,
    PreparedSteps,
    Step,
    Tensor,
)
from harness.spec import Draw, DrawnOnce, Judge
from harness.worker import wire

#: One frame's arrays, and the half of a header's cap, are all that is foreseen of a check.
PAYLOAD_CAP: Final = 4 << 20
HEADER_CAP: Final = wire.HEADER_CAP // 2

#: Runs a check with a draw, a judge and a session that is asked to exchange and nothing else.
Run = Callable[[Draw, Judge, Any], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """One check: what it draws, and the exchanges that are known before any answer."""

    drawn: DrawnOnce
    exchanges: tuple[tuple[Step, ...], ...]
    steps: PreparedSteps


class QuestionSheet:
    """The checks of one batch, each with what it draws and what can be asked at once."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._pages: dict[tuple[str, bool], Page] = {}

    def page(
        self, check: str, *, heads_alike: bool, run: Run, reference: Callable[[], Session]
    ) -> Page:
        """Return the page of a check; ``run`` and ``reference`` serve to make it."""
        key = check, heads_alike
        if key not in self._pages:
            drawn = DrawnOnce(self._seed, check, heads_alike=heads_alike)
            exchanges = _foresee(drawn, run, reference())
            self._pages[key] = Page(drawn, exchanges, PreparedSteps(exchanges))
        return self._pages[key]


class Dialogue:
    """A session during one check: what is foreseen is sent at the first exchange."""

    def __init__(self, session: Session, page: Page) -> None:
        self._session = session
        self._page = page
        self._next = 0
        self._answers: Iterator[Answer] = iter(())

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Return the answers to some steps, from those that have come already where they have."""
        foreseen = self._page.exchanges
        if self._next >= len(foreseen) or not same_steps(steps, foreseen[self._next]):
            self._next = len(foreseen)  # what was foreseen further on is no longer in order
            return self._session.exchange(steps)
        if self._next == 0:
            try:
                self._answers = iter(self._session.exchange(self._page.steps))
            except (NotOffered, wire.WireError):
                # In the submission's own terms one of the later calls cannot be made, or they are
                # too many for one frame; nothing has been sent.
                self._next = len(foreseen)
                return self._session.exchange(steps)
        self._next += 1
        return [next(self._answers) for _ in steps]

    @property
    def memory_noise(self) -> int:
        """What the session says."""
        return self._session.memory_noise

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Measure by itself: such a step is never part of a frame with others."""
        return self._session.measure(warm_up, step)


class _Heard:
    """The reference in a session that keeps what is asked and answered."""

    def __init__(self, reference: Session) -> None:
        self._reference = reference
        self.exchanges: list[tuple[Step, ...]] = []
        self.answers: list[list[Answer]] = []
        self._bytes = 0

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        asked = tuple(steps)
        self._bytes += sum(array.nbytes for step in asked for array in _arrays(step))
        if self._bytes > PAYLOAD_CAP or not all(map(_is_plain, asked)):
            raise _NotForeseen
        self.exchanges.append(asked)
        self.answers.append(self._reference.exchange(asked))
        return self.answers[-1]


class _Changed:
    """A session that gives the reference's answers, each changed, while it is asked the same."""

    def __init__(self, heard: _Heard) -> None:
        self._heard = heard
        self.count = 0

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        heard = self._heard
        if self.count >= len(heard.exchanges):
            raise _NotForeseen
        if not same_steps(steps, heard.exchanges[self.count]):
            raise _NotForeseen
        self.count += 1
        return [_changed(answer) for answer in heard.answers[self.count - 1]]


class _NotForeseen(Exception):
    """What a check asks here has to wait for its turn."""


class _Lenient(Judge):
    """Lets everything pass, so that a check is run to its end."""

    def close(self, *_: Any, **__: Any) -> None:
        pass

    def exactly(self, *_: Any) -> None:
        pass

    def require(self, *_: Any) -> None:
        pass

    def within(self, *_: Any) -> None:
        pass


def _foresee(drawn: DrawnOnce, run: Run, reference: Session) -> tuple[tuple[Step, ...], ...]:
    heard = _Heard(reference)
    changed = _Changed(heard)
    sessions: tuple[_Heard | _Changed, ...] = (heard, changed)
    for session in sessions:
        try:
            run(drawn.again(), _Lenient(), session)
        except Exception:  # whatever a changed answer brings about: what was asked before counts
            continue
    exchanges = heard.exchanges[: changed.count]
    while exchanges and PreparedSteps(exchanges).header_bytes > HEADER_CAP:
        exchanges.pop()
    return tuple(exchanges)


def _is_plain(step: Step) -> bool:
    """Tell whether a step concerns no object: those have numbers and names of the candidate's."""
    if not isinstance(step, (Call, Gradients)) or step.object is not None:
        return False
    given = (*step.arguments, *step.keywords.values())
    return not any(isinstance(value, Handle) for value in given)


def _changed(answer: Answer) -> Answer:
    return dataclasses.replace(
        answer,
        outs=tuple(map(_other, answer.outs)),
        echo=tuple(map(_other, answer.echo)),
    )


def _other(output: Output) -> Output:
    """Return an output of the same kind and shape, with another value everywhere."""
    match output:
        case Tensor(values) if values.dtype.kind == "b":
            return dataclasses.replace(output, values=~values)
        case Tensor(values):
            return dataclasses.replace(output, values=(values * 2 + 1).astype(values.dtype))
        case bool():
            return not output
        case int() | float():
            return output * 2 + 1
    return output


def same_steps(asked: Sequence[Step], foreseen: Sequence[Step]) -> bool:
    """Tell whether two lists of steps are the same, byte for byte."""
    return len(asked) == len(foreseen) and all(map(_same_step, asked, foreseen))


def _same_step(one: Step, other: Step) -> bool:
    if type(one) is not type(other):
        return False
    names = (field.name for field in dataclasses.fields(one))
    return all(_same(getattr(one, name), getattr(other, name)) for name in names) and (
        _repeated(one) == _repeated(other)
    )


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, Tensor):
        return (one.dtype, one.transposed) == (other.dtype, other.transposed) and _same(
            one.values, other.values
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)


def _repeated(step: Step) -> list[int]:
    """Return for each argument the first place at which the same object stands."""
    places: dict[int, int] = {}
    return [
        places.setdefault(id(value), place)
        for place, value in enumerate(getattr(step, "arguments", ()))
    ]


def _arrays(step: Step) -> Iterator[np.ndarray[Any, Any]]:
    for value in getattr(step, "arguments", ()):
        if isinstance(value, (np.ndarray, Tensor)):
            yield value.values if isinstance(value, Tensor) else value
