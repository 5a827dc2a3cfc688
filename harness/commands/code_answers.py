"""Runs the code in written answers: each piece is graded by an assignment of its own.

It happens when the forms have been read, and changes no verdict: whoever marks the answer sees
what the code does. Forms are read without a sandbox, and this needs one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import msgspec

import specs
from harness import answer_form
from harness.commands import job
from harness.commands.job import Order
from harness.grading import Task
from harness.intake import SourceFile, Submission, identifier
from harness.parsing import Parser
from harness.results import Card
from harness.spec import Spec


def may_have_code(card: Card, spec: Spec) -> bool:
    """Tell whether a form may have code to run that was not run yet."""
    return any(
        question.code is None and "def " in question.answers.get(name, "")
        for question in card.questions
        for number, name in map(_place, spec.code_fields)
        if question.id == number
    )


def code_answers_task(order: bytes, work: bytes) -> bytes:
    """Grade the code in a form, and return the form's card with the cards of it as JSON.

    ``work`` is what ``card_work`` makes.

    Raises:
        SandboxBroken: no sandbox can be opened.
    """
    graded, task = msgspec.msgpack.decode(work, type=tuple[bytes, bytes])
    card, wanted = msgspec.json.decode(graded, type=Card), msgspec.msgpack.decode(order, type=Order)
    with Parser() as parser:
        form = Task.decode(task).load(parser)
    found = dict(_graded(form, wanted))
    questions = (
        msgspec.structs.replace(question, code=found.get(question.id))
        for question in card.questions
    )
    return msgspec.json.encode(msgspec.structs.replace(card, questions=tuple(questions)))


def _graded(form: Submission, wanted: Order) -> Iterator[tuple[str, Card]]:
    """Yield the number of each question that is answered with code, and the card of the code."""
    for field, name in specs.load(wanted.spec).code_fields.items():
        if code := answer_form.fenced_code(form.text, field):
            number, _ = _place(field)
            task = Task(id=form.id, submission=_submission(form.id, number, code))
            order = msgspec.msgpack.encode(order_of(name, wanted))
            yield number, msgspec.json.decode(job.grade_task(order, task.encode()), type=Card)


def _place(field: str) -> tuple[str, str]:
    """Return the number of the question that a field belongs to, and the field's own name."""
    number, _, name = field.partition(" ")
    return number, name


def order_of(name: str, wanted: Order) -> Order:
    """Return the order by which code is graded that stands in forms."""
    return Order(
        spec=name,
        seed=wanted.seed,
        sandbox=wanted.sandbox,
        runtime=wanted.runtime,
        adapt=wanted.adapt,
        reuse=wanted.reuse,
    )


def _submission(form: str, number: str, code: str) -> Submission:
    name, data = f"question_{number}.py", code.encode(errors="replace")
    return Submission(
        id=identifier(f"{form}, question {number}"),
        sha256=hashlib.sha256(data).hexdigest(),
        origin="script",
        entry=name,
        files=(SourceFile(name=name, data=data),),
        notes=(),
    )


def prepare(
    spec: Spec, wanted: Order, hold: Callable[[], None], report: Callable[[str], None]
) -> None:
    """Make the sandboxes ready in which code of forms is run, before the first of it runs.

    Args:
        hold: tries the sandbox of containers.

    Raises:
        SandboxUnavailable: a sandbox cannot be provided here.
    """
    for name in dict.fromkeys(spec.code_fields.values()):
        order = order_of(name, wanted)
        sandbox = job.open_sandboxes(specs.load(name), order, report)()
        if sandbox.environment.image:
            hold()
