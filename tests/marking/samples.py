"""Cards with key points, and entries about them."""

import msgspec

from harness.marking import Marking
from harness.results import (
    Card,
    CheckResult,
    Environment,
    Facet,
    KeyPoint,
    Level,
    Outcome,
    Question,
    SubmissionResult,
    Verdict,
)
from harness.reviews import Mark, Note

TIME = "2026-01-01T00:00:00+00:00"

POINTS = tuple(
    KeyPoint(id=f"1.{place}", text='a # "point"', level=level)
    for place, level in enumerate((Level.PASS, Level.PASS, Level.GOOD, Level.EXCELLENT), start=1)
)


def check(level, outcome=Outcome.PASSED):
    return CheckResult(
        id=level,
        title="t",
        outcome=outcome,
        level=level,
        facet=Facet.SHAPE,
        points=3,
        earned=3 if outcome is Outcome.PASSED else 0,
    )


PASSED = (check(Level.PASS), check(Level.GOOD))


def question(number="1", text="because"):
    points = tuple(
        msgspec.structs.replace(point, id=point.id.replace("1.", f"{number}.", 1))
        for point in POINTS
    )
    return Question(id=number, part="p", text="Why\nso?", answers={"answer": text}, points=points)


def card(identifier="ann", checks=PASSED, earned=6, questions=None):
    result = SubmissionResult(
        id=identifier,
        sha256="",
        verdict=Verdict.PASSED,
        level=Level.GOOD,
        earned=earned,
        possible=6,
        checks=checks,
    )
    environment = Environment(takehome="0", sandbox="none", isolated=True)
    questions = questions or (question(),)
    return Card(spec="s", title="t", environment=environment, result=result, questions=questions)


def marked(*points, reviewed=True, value=1):
    return Marking(values=dict.fromkeys(points, value), reviewed=reviewed)


def mark(point="1.1", share=1.0, reviewer="bo", submission="ann"):
    return Mark(submission=submission, point=point, share=share, reviewer=reviewer, time=TIME)


def note(text, about="1"):
    return Note(submission="ann", about=about, text=text, reviewer="bo", time=TIME)
