"""Puts calls in the submission's own terms, and answers in the brief's.

One call of the brief may be several of the submission's: one per item, head or query where it
does not take all at once, and one more for V = I where it does not return its weights. Queries
are independent of each other, items and heads as well, so that this changes nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.conventions.convention import Convention, array_of, flat, mapped
from harness.conventions.split_calls import SplitCall
from harness.errors import NotOffered
from harness.protocol import (
    Answer,
    Call,
    Construct,
    Cost,
    Gradients,
    Handle,
    Mode,
    Step,
    Value,
)

Floats = np.ndarray[Any, Any]
#: Numbers of objects that stand for functions: beyond those of checks and trials.
FIRST_NUMBER: Final = 1 << 50
Back = Callable[[Sequence[Answer]], Answer]


class AdaptingSession:
    """A session that speaks in the brief's terms with a submission that has terms of its own."""

    def __init__(
        self,
        session: Any,
        conventions: Mapping[str, Convention],
        variants: Mapping[str, Mapping[str, Callable[[Floats], Floats]]],
    ) -> None:
        self._session = session
        self._conventions = conventions
        self._variants = variants
        self._objects: dict[int, str] = {}  #: number of an object -> the brief's name of its class
        self._numbers = itertools.count(FIRST_NUMBER)

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Translate the steps, exchange them in one frame, and translate the answers."""
        translated = [self.translated(step) for step in steps]
        answers = iter(self._session.exchange([sent for plan, _ in translated for sent in plan]))
        return [back([next(answers) for _ in plan]) for plan, back in translated]

    def measure(self, warm_up: Step, step: Step) -> tuple[Answer, int]:
        """Measure the first call that a step becomes."""
        (first, *_), _ = self.translated(warm_up)
        (second, *_), back = self.translated(step)
        answer, risen = self._session.measure(first, second)
        return back([answer]), risen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def translated(self, step: Step) -> tuple[list[Step], Back]:
        """Return what is sent for a step, and how the answers are put together."""
        if isinstance(step, Construct) and (convention := self._conventions.get(step.name)):
            self._objects[step.object.number] = step.name
            given, named = convention.made_with(step.arguments)
            made = dataclasses.replace(step, name=convention.name, arguments=given, keywords=named)
            return [made], _first
        name = self._name(step)
        convention = self._conventions.get(name)
        if convention is None or not isinstance(step, (Call, Cost, Gradients)):
            return [step], _first
        if not convention.table:
            convention.require_offered(step.arguments)
        if isinstance(step, Call) and step.keep and not convention.hands_on_a_cache:
            raise NotOffered("cache to hand on")
        renamed = convention.name if step.object is None else ""
        if isinstance(step, Gradients):
            pieces = SplitCall(convention, step.arguments)
            sent = pieces.gradient_steps(dataclasses.replace(step, name=renamed))
            of = len(step.of)
            if convention.is_class:
                return self._with_object(
                    convention, step.arguments, [*sent],
                    lambda answers: _first_outs(pieces.gradients(answers, of), of),
                )  # fmt: skip
            return [*sent], lambda answers: pieces.gradients(answers, of)
        if isinstance(step, Cost):
            given, named = SplitCall(convention, step.arguments).whole()
            sent_cost = dataclasses.replace(step, name=renamed, arguments=given, keywords=named)
            return [sent_cost], _first
        if convention.table and isinstance(step, Call):
            return self._table(name, convention, step)
        steps, back = self._call(name, convention, dataclasses.replace(step, name=renamed))
        if convention.is_class:
            return self._with_object(convention, step.arguments, steps, back)
        return steps, back

    def _with_object(
        self, convention: Convention, arguments: Sequence[Value], steps: list[Step], back: Back
    ) -> tuple[list[Step], Back]:
        """Make an object first, and call that; it is made for the width of the arguments."""
        sizes: Sequence[Value] = arguments
        query = array_of(arguments[convention.places.query or 0]) if arguments else None
        if query is not None:
            sizes = (query.shape[-1],)
        given, named = convention.made_with(sizes)
        target = Handle(next(self._numbers))
        made = Construct(
            object=target, name=convention.name, arguments=given if named else (), keywords=named
        )
        asked = [
            dataclasses.replace(one, name="", object=target)
            for one in steps
            if isinstance(one, (Call, Gradients))
        ]

        def of_object(answers: Sequence[Answer]) -> Answer:
            return answers[0] if answers[0].raised is not None else back(answers[2:])

        return [made, Mode(object=target, training=False), *asked], of_object

    def _table(self, name: str, convention: Convention, step: Call) -> tuple[list[Step], Back]:
        """Ask an object for its table, which it adds to an input of zeros."""
        length, width = step.arguments
        assert isinstance(length, int) and isinstance(width, int)
        shape = {"batch": (1, length, width), "time-first": (length, 1, width)}
        x = np.zeros(shape.get(convention.table, (length, width)), np.float32)
        change = self._variants.get(name, {}).get(convention.variant)

        def back(answers: Sequence[Answer]) -> Answer:
            (answer,) = answers
            outs = tuple(mapped(out, flat) for out in answer.outs[:1])
            if change is not None:
                outs = tuple(mapped(out, change) for out in outs)
            return dataclasses.replace(answer, outs=outs)

        return self._with_object(
            convention, step.arguments, [dataclasses.replace(step, arguments=(x,))], back
        )

    def _name(self, step: Step) -> str:
        """Return the brief's name of what a step calls; "" for a method of an object."""
        if isinstance(step, (Call, Cost, Gradients)) and step.object is not None:
            return "" if step.name else self._objects.get(step.object.number, "")
        return getattr(step, "name", "")

    def _call(self, name: str, convention: Convention, step: Call) -> tuple[list[Step], Back]:
        versions = [SplitCall(convention, arguments) for arguments in _versions(convention, step)]
        calls = [[*pieces.calls()] for pieces in versions]
        steps: list[Step] = [
            dataclasses.replace(
                step, arguments=given, keywords=named, keep=convention.kept(step.keep)
            )
            for version in calls
            for given, named in version
        ]
        variants = self._variants.get(name, {})

        def back(answers: Sequence[Answer]) -> Answer:
            for answer in answers:
                if answer.raised is not None:
                    return answer
            found = iter(answers)
            parts = [
                pieces.together([next(found) for _ in version], variants)
                for pieces, version in zip(versions, calls, strict=False)
                if len(answers) == len(steps) or pieces is versions[0]
            ]
            first, *others = parts
            if others:
                first = dataclasses.replace(first, outs=(*first.outs[:1], *others[0].outs[:1]))
            return first

        return steps, back


def _first_outs(answer: Answer, count: int) -> Answer:
    return dataclasses.replace(answer, outs=answer.outs[:count])


def _first(answers: Sequence[Answer]) -> Answer:
    return answers[0]


def _versions(convention: Convention, step: Call) -> Iterator[tuple[Value, ...]]:
    """Yield the arguments, and again with V = I where that is how the weights are read."""
    arguments = step.arguments
    yield arguments
    place = convention.places.value
    if convention.identity and place is not None and place < len(arguments):

        def identity(array: Floats) -> Floats:
            keys = array.shape[-2]
            eye = np.eye(keys, dtype=array.dtype)
            return np.broadcast_to(eye, (*array.shape[:-1], keys))

        yield (*arguments[:place], mapped(arguments[place], identity), *arguments[place + 1 :])
