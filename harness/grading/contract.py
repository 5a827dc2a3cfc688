"""Mistakes in what a call returns, whatever the numbers: flaws of the stage ``contract``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from harness.protocol import Answer, Opaque, Tensor, Unsupported
from harness.results import Diagnosis, FollowUp, Stage
from harness.spec import EntryPoint

Shapes = tuple[tuple[int, ...], ...]
Answered = Sequence[tuple[Answer, Shapes]]


class ContractFlaw(msgspec.Struct, frozen=True, kw_only=True):
    """One slip: what happened, what it is called, and what an interviewer can ask."""

    id: str
    title: str
    text: str  #: the fact, with the names of this entry point
    question: str
    answer: str
    values: dict[str, str] = {}

    def diagnosis(self) -> Diagnosis:
        """Return the flaw as a card names it."""
        return Diagnosis(
            flaw=self.id,
            title=self.title,
            stage=Stage.CONTRACT,
            stages=(Stage.CONTRACT,),
            confidence=f"{self.text}.",
            questions=(FollowUp(question=self.question, answer=self.answer),),
        )


def broken_contract(point: EntryPoint, answered: Answered) -> ContractFlaw | None:
    """Return the slip that every answered call makes, or None."""
    if not answered:
        return None
    for is_so, flaw in _SLIPS:
        if all(is_so(point, answer, shapes) for answer, shapes in answered) and (
            flaw is not _swapped or any(shapes[0] != shapes[1] for _, shapes in answered)
        ):
            return flaw(point)
    return None


def _gives_nothing(point: EntryPoint, answer: Answer, shapes: Shapes) -> bool:
    return answer.form == "nothing" or all(out is None for out in answer.outs)


def _gives_too_few(point: EntryPoint, answer: Answer, shapes: Shapes) -> bool:
    return 0 < len(answer.outs) < len(point.returns)


def _gives_no_array(point: EntryPoint, answer: Answer, shapes: Shapes) -> bool:
    first = answer.outs[0] if answer.outs else None
    return isinstance(first, (Opaque, Unsupported, str))


def _gives_them_swapped(point: EntryPoint, answer: Answer, shapes: Shapes) -> bool:
    if len(answer.outs) != 2 or len(shapes) != 2:
        return False
    found = tuple(out.values.shape if isinstance(out, Tensor) else None for out in answer.outs)
    return found == shapes[::-1]


def _nothing(point: EntryPoint) -> ContractFlaw:
    return ContractFlaw(
        id="returns-none",
        title="nothing returned",
        text=f"{point.name} returns None, expected {_wanted(point)}",
        question="What does a Python function return when it has no return statement?",
        answer="None. What it computed is lost: the call has to return it.",
    )


def _too_few(point: EntryPoint) -> ContractFlaw:
    return ContractFlaw(
        id="returns-too-few",
        title="only a part of what the brief asks returned",
        text=f"{point.name} returns fewer values than asked, expected {_wanted(point)}",
        question=f"The brief asks for {_wanted(point)}. What would a caller do with each of them?",
        answer="The output goes on to the next layer; the weights are looked at to see which "
        "keys a query attends to, and to test that each row sums to 1.",
    )


def _no_array(point: EntryPoint) -> ContractFlaw:
    return ContractFlaw(
        id="returns-no-array",
        title="something else than an array returned",
        text=f"{point.name} returns something else than an array, expected {_wanted(point)}",
        question="What can the caller do with an array that it cannot do with a list?",
        answer="Arithmetic on all elements at once, shapes, dtypes, and gradients in torch.",
    )


def _swapped(point: EntryPoint) -> ContractFlaw:
    first, second = point.returns
    return ContractFlaw(
        id="returns-swapped",
        title="the two outputs returned in the other order",
        text=f"{point.name} returns ({second}, {first}), expected ({first}, {second})",
        question="Which shape has each of your two outputs, and which comes first in the brief?",
        answer=f"The {first} have the width of the values, the {second} one entry per key; "
        f"the brief asks for ({first}, {second}).",
        values={"expected": f"({first}, {second})", "returned": f"({second}, {first})"},
    )


def _wanted(point: EntryPoint) -> str:
    names = ", ".join(point.returns)
    return f"({names})" if len(point.returns) > 1 else names


def refused_arguments(point: EntryPoint, text: str) -> ContractFlaw:
    """Return the flaw of an entry point that cannot be called as the brief says."""
    wanted = f"{point.name}({', '.join(point.parameters)})"
    return ContractFlaw(
        id="arguments-refused",
        title="arguments that it does not take in the brief's order",
        text=f"{text}; the brief calls {wanted}",
        question=f"The brief calls {wanted}. Which of these calls does your signature allow?",
        answer="Parameters after a bare * can be given by keyword only; a parameter without a "
        "default has to be given.",
        values={"expected": wanted},
    )


#: Whether an answer makes a slip -> the slip; the first that every call makes is it.
_SLIPS: Final[
    tuple[
        tuple[Callable[[EntryPoint, Answer, Shapes], bool], Callable[[EntryPoint], ContractFlaw]],
        ...,
    ]
] = (
    (_gives_nothing, _nothing),
    (_gives_no_array, _no_array),
    (_gives_too_few, _too_few),
    (_gives_them_swapped, _swapped),
)
