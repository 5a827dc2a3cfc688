"""A batch on the real engine, while things happen that no submission can help."""

from concurrent.futures import Future

import msgspec
import pytest

from harness.errors import SandboxBroken
from harness.grading.batch import Jobs, Pending, grade_all
from harness.grading.grader import Grader
from harness.grading.grading import Assignment
from harness.grading.task import Task
from harness.parsing.client import Parser
from harness.sandbox.base import LIMITS
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import ensure_image
from harness.sandbox.container.sandbox import ContainerSandbox
from tests import toy

pytestmark = pytest.mark.docker


@pytest.fixture
def grade():
    """Grade texts in containers, one after the other; each sandbox is handed to ``prepare``."""
    client = connect()
    image = ensure_image(client, "takehome-numpy")
    opened = []

    def run(texts, prepare=lambda sandbox, number: None):
        def open_sandbox():
            sandbox = ContainerSandbox(client=client, image=image, limits=LIMITS["numpy"])
            opened.append(sandbox)
            prepare(sandbox, len(opened))
            return sandbox

        with Parser() as parser:
            assignment = Assignment(
                spec=toy.SPEC, seed="seed", limits=LIMITS["numpy"], parser=parser
            )
            grader = Grader(assignment, open_sandbox, reuse=True)

            def submit(task):
                future = Future()
                try:
                    future.set_result(msgspec.json.encode(grader.grade(Task.decode(task))))
                except SandboxBroken as error:
                    future.set_exception(error)
                return future

            pending = [
                Pending(id=name, key=name, task=task(name, text))
                for name, text in zip("abcdefgh", texts, strict=False)
            ]
            jobs = Jobs(submit=submit, count=1, unscored=None)
            try:
                return {c.result.id: c.result for _, c in grade_all(pending, jobs)}
            finally:
                grader.close()

    yield run
    client.close()


def task(name, text):
    return Task(id=name, submission=toy.submission(text, name)).encode()


def disturbed(client_method):
    """Do something to the container of the first sandbox before its third exchange."""

    def prepare(sandbox, number):
        call, calls = sandbox.call, []

        def counting(frame, seconds):
            calls.append(frame)
            if number == 1 and len(calls) == 3:
                getattr(sandbox._settings.client.api, client_method)(sandbox._container.id)
            return call(frame, min(seconds, 0.2) if number == 1 else seconds)

        sandbox.call = counting

    return prepare


@pytest.mark.parametrize("happening", ["kill", "pause"])
def test_a_container_killed_or_paused_from_outside_costs_no_submission_a_check(grade, happening):
    results = grade([toy.RIGHT, toy.WRONG, toy.RIGHT], disturbed(happening))
    assert [results[name].earned for name in "abc"] == [11, 6, 11]
    assert ["from outside" in " ".join(results[name].notes) for name in "abc"] == [
        True,
        False,
        False,
    ]


def test_those_that_eat_memory_or_flood_or_end_cost_the_others_nothing(grade):
    bad = "import os, sys\ndef total(x): return x.sum()\ndef double(x):\n"
    results = grade(
        [
            toy.RIGHT,
            bad + " return bytearray(4 << 30)",
            toy.RIGHT,
            bad + " sys.stdout.write('x' * (1 << 26))",
            toy.RIGHT,
            bad + " os._exit(0)",
            toy.RIGHT,
        ]
    )
    assert [results[name].earned for name in "aceg"] == [11] * 4
    assert [str(results[name].verdict) for name in "bdf"] == ["failed"] * 3
    assert not any("Graded again" in note for result in results.values() for note in result.notes)
