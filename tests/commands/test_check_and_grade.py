"""What a candidate is told at home is what the grading comes to."""

from pathlib import Path

import pytest

import specs
from harness.commands.check import check_file
from harness.grading import Assignment, grade
from harness.intake import collect
from harness.parsing import Parser
from harness.sandbox import LIMITS, opener

SAMPLES = Path(__file__).parents[2] / "sample_submissions"
#: Measured in a container only.
ONLY_GRADED = {"memory-growth"}


def outcomes(card):
    checks = card.result.checks
    kept = {check.id: check.outcome for check in checks if check.id not in ONLY_GRADED}
    return card.result.verdict, kept


def in_a_container(file, spec, seed):
    asked = spec.asked
    (delivery,) = collect([file], single=True, texts=spec.is_written, asked=asked).deliveries
    sandbox = opener("container", spec.image)()
    with Parser() as parser:
        limits = LIMITS[spec.image]
        assignment = Assignment(spec=spec, seed=seed, limits=limits, parser=parser)
        try:
            return grade(delivery, assignment, sandbox)
        finally:
            sandbox.close()


def files(*names):
    found = [path for name in names for path in sorted((SAMPLES / name).iterdir())]
    return [path for path in found if path.suffix in (".py", ".ipynb")]


FEW = [
    SAMPLES / "numpy_attention" / name
    for name in ("source_a.py", "wrong_no-scale.py", "wrong_polarity-inverted.py")
]
#: At least 40, of both kinds of arrays.
MANY = files("numpy_attention", "torch_sdpa", "online_softmax")


def agree(file):
    spec = specs.load(file.parent.name)
    assert outcomes(check_file(file, spec, seed="s")) == outcomes(in_a_container(file, spec, "s"))


@pytest.mark.docker
@pytest.mark.parametrize("file", FEW, ids=lambda file: file.stem)
def test_a_check_comes_to_what_a_grading_comes_to(file):
    agree(file)


@pytest.mark.slow
@pytest.mark.docker
@pytest.mark.parametrize("file", MANY, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_check_comes_to_what_a_grading_comes_to(file):
    agree(file)


def test_many_are_at_least_forty():
    assert len(MANY) >= 40
