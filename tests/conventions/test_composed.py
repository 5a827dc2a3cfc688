"""Files composed of the choices that people make: right ones pass, and nothing is invented."""

from pathlib import Path

import pytest

import specs
from harness.grading.grading import Assignment, grade
from harness.intake.deliveries import collect
from harness.parsing.client import Parser
from harness.sandbox.base import LIMITS
from harness.sandbox.process import ProcessSandbox
from tests.conventions.composed import SPECS, compose

#: True of many right files: a fill of -inf, and one that float16 cannot hold.
NAMED = {"nan-row", "fill-overflows-half"}
#: So many of each assignment, of which two are graded in every run.
COUNT, IN_EVERY_RUN = 120, 2
FILES = [
    pytest.param(
        name,
        number,
        marks=[] if number < IN_EVERY_RUN and name != "torch_multi_head" else [pytest.mark.slow],
        id=f"{name}-{number}",
    )
    for name in SPECS
    for number in range(COUNT)
]


def graded(name: str, text: str, folder: Path):
    spec = specs.load(name)
    file = folder / "submission.py"
    file.write_text(text, encoding="utf-8")
    (delivery,) = collect([file], single=True, asked=spec.asked, adapt=True).deliveries
    limits = LIMITS[spec.image]
    sandbox = ProcessSandbox(limits=limits)
    with Parser() as parser:
        assignment = Assignment(spec=spec, seed="s", limits=limits, parser=parser, adapt=True)
        try:
            return grade(delivery, assignment, sandbox).result
        finally:
            sandbox.close()


@pytest.mark.parametrize(("name", "number"), FILES)
def test_a_composed_file_gets_the_verdict_that_it_was_composed_for(name, number, tmp_path):
    composed = compose(name, number)
    result = graded(name, composed.text, tmp_path)
    named = {part for one in result.diagnosis for part in one.flaw.split("+")}
    if composed.flaw:
        assert result.verdict == "failed", (composed.choices, result.reason)
    else:
        assert result.verdict == "passed", (composed.choices, result.reason)
        assert named <= NAMED, composed.choices
