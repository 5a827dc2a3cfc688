import contextlib
import dataclasses
import time

import pytest

import specs
from harness.grading.grading import Assignment, grade_submission
from harness.intake.source_tree import SourceFile
from harness.intake.submission import load
from harness.parsing.client import Parser
from harness.repair.finder import RepairFinder
from harness.results import Outcome, Verdict
from harness.sandbox.base import LIMITS
from harness.sandbox.process import ProcessSandbox
from tests.samples import path_of

SPEC = specs.load("numpy_attention")


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


@pytest.fixture
def sandbox():
    sandbox = ProcessSandbox(limits=LIMITS["numpy"])
    yield sandbox
    sandbox.close()


@pytest.fixture
def assignment(parser):
    return Assignment(spec=SPEC, seed="seed", limits=LIMITS["numpy"], parser=parser)


def repaired(submission, assignment, sandbox, finder=None):
    card = grade_submission(submission, assignment, sandbox)
    return (finder or RepairFinder())(card, submission, assignment, sandbox), card


def patched(text, diff):
    """Apply a unified diff to a text."""
    lines, made, at = text.splitlines(), [], 0
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            first = int(line.split()[1].split(",")[0].removeprefix("-")) - 1
            made += lines[at:first]
            at = first
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert lines[at] == line[1:]
            made += [line[1:]] if line.startswith(" ") else []
            at += 1
    return "\n".join([*made, *lines[at:]]) + "\n"


@pytest.mark.parametrize(
    "name",
    [
        "scale-by-d",
        "softmax-over-queries",
        "polarity-inverted",
        "mask-after-softmax",
        "causal-triu",
        "split-by-reshape",
        "pe-integer-division",
        "no-maximum",
        "query-scaled-in-place",
    ],
)
def test_the_diff_on_the_card_makes_every_check_pass(name, assignment, sandbox):
    path = path_of("numpy_attention", f"wrong_{name}")
    submission = load(path, assignment.parser)
    card, _ = repaired(submission, assignment, sandbox)
    assert card.repair is not None
    assert card.repair.checks == len(SPEC.checks)
    assert 0 < card.repair.runs <= 200
    text = patched(path.read_text(encoding="utf-8"), card.repair.diff)
    entry = SourceFile(name=submission.entry, data=text.encode())
    again = grade_submission(
        dataclasses.replace(submission, files=(entry,)),
        dataclasses.replace(assignment, seed="another seed"),
        sandbox,
    )
    assert {check.outcome for check in again.result.checks} == {Outcome.PASSED}


def test_two_slips_are_repaired_together(assignment, sandbox):
    submission = load(
        path_of("numpy_attention", "wrong_softmax-over-queries+mask-ignored"), assignment.parser
    )
    card, _ = repaired(submission, assignment, sandbox)
    assert card.repair is not None
    assert card.repair.lines == 2


@pytest.mark.parametrize("name", ["right_einsum", "source_a"])
def test_a_right_answer_gets_no_repair(name, assignment, sandbox):
    submission = load(path_of("numpy_attention", name), assignment.parser)
    card, before = repaired(submission, assignment, sandbox)
    assert (card.result, card.repair) == (before.result, None)
    assert card.repair is None


def test_a_repair_changes_nothing_else_on_the_card(assignment, sandbox):
    submission = load(path_of("numpy_attention", "wrong_scale-by-d"), assignment.parser)
    card, before = repaired(submission, assignment, sandbox)
    assert card.result == before.result
    assert (card.sources, card.log, card.evidence) == (
        before.sources,
        before.log,
        before.evidence,
    )


def test_what_edited_versions_print_is_not_the_next_submissions(assignment, sandbox):
    submission = load(path_of("numpy_attention", "wrong_scale-by-d"), assignment.parser)
    noisy = changed(submission, "\n" + text_of(submission) + '\nprint("edited")\n')
    repaired(noisy, assignment, sandbox)
    card = grade_submission(submission, assignment, sandbox)
    assert card.log == ""


def text_of(submission):
    return submission.files[0].data.decode()


def changed(submission, text):
    entry = SourceFile(name=submission.entry, data=text.encode())
    return dataclasses.replace(submission, files=(entry, *submission.files[1:]))


def test_no_more_runs_than_the_budget_and_no_more_time(assignment, sandbox):
    submission = load(path_of("numpy_attention", "wrong_square-only"), assignment.parser)
    card, _ = repaired(submission, assignment, sandbox, RepairFinder(runs=3))
    assert card.repair is None
    began = time.monotonic()
    card, _ = repaired(submission, assignment, sandbox, RepairFinder(seconds=0.0))
    assert card.repair is None
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "text",
    [
        "def attention(Q, K, V, mask=None): return " + "(" * 150 + "V" + ")" * 150 + ", K",
        "def attention(Q, K, V, mask=None):\n    return V" + " + K" * 900 + ", K\n",
        "def attention(Q, K, V, mask=None):\n" + "    s = Q @ K\n" * 5000 + "    return s, s\n",
        "def attention(Q, K, V, mask=None):\n    x = '''"
        + "\n" * 60_000
        + "'''\n    return V, K\n",
        "def attention(Q, K, V, mask=None):\n    return (yield Q)\n",
        "attention = lambda Q, K, V, mask=None: (V, K)\n",
        "import os, sys\ndef attention(Q, K, V, mask=None): os._exit(1)\n",
        "def attention(Q, K, V, mask=None):\n    while True:\n        Q = Q + K @ V\n",
        "def attention(Q, K, V, mask=None):\n    globals().clear()\n    return Q @ K, V\n",
        "import sys\nsys.modules.clear()\ndef attention(Q, K, V, mask=None): return Q @ K, V\n",
        "import builtins\nbuiltins.exec = None\ndef attention(Q, K, V, mask=None): return K, V\n",
    ],
    ids=range(11),
)
def test_a_hostile_source_ends_without_a_repair(text, assignment, sandbox):
    limits = dataclasses.replace(LIMITS["numpy"], exchange_seconds=0.5, submission_seconds=10.0)
    assignment = dataclasses.replace(assignment, limits=limits)
    submission = changed(
        load(path_of("numpy_attention", "wrong_scale-by-d"), assignment.parser), text
    )
    began = time.monotonic()
    card, before = repaired(submission, assignment, sandbox, RepairFinder(seconds=4.0))
    assert (card.result, card.repair) == (before.result, None)
    assert time.monotonic() - began < 60  # each part has a deadline of its own


def test_another_file_of_a_submission_is_left_alone(assignment, sandbox, tmp_path):
    text = (path_of("numpy_attention", "wrong_scale-by-d")).read_text(encoding="utf-8")
    (tmp_path / "attention.py").write_text(
        "from softmaxes import softmax\n" + text.replace("def softmax", "def unused"),
        encoding="utf-8",
    )
    (tmp_path / "softmaxes.py").write_text(
        "import numpy as np\n" + text[text.index("def softmax") : text.index("def attention")],
        encoding="utf-8",
    )
    submission = load(tmp_path, assignment.parser)
    card, _ = repaired(submission, assignment, sandbox)
    assert card.repair is not None
    assert card.repair.diff.startswith("--- attention.py")


def test_a_submission_with_names_of_its_own_is_repaired_where_those_are_accepted(
    assignment, sandbox
):
    assignment = dataclasses.replace(assignment, adapt=True)
    submission = load(path_of("numpy_attention", "wrong_scale-by-d"), assignment.parser)
    text = text_of(submission).replace("def attention(Q, K, V,", "def self_attention(Q, K, V,")
    card, _ = repaired(changed(submission, text), assignment, sandbox)
    assert card.result.verdict is Verdict.FAILED
    assert card.repair is not None


def test_whatever_breaks_while_repairing_costs_no_grade(assignment, sandbox):
    submission = load(path_of("numpy_attention", "wrong_scale-by-d"), assignment.parser)
    before = grade_submission(submission, assignment, sandbox)

    class Broken(Parser):
        def edits(self, text, *, entries, torch):
            raise ValueError("a defect of ours")

    with contextlib.closing(Broken()) as parser:
        broken = dataclasses.replace(assignment, parser=parser)
        after = RepairFinder()(before, submission, broken, sandbox)
        assert (after.result, after.repair) == (before.result, None)


def test_a_check_that_fails_only_after_others_have_run_is_repaired(assignment, sandbox):
    submission = load(path_of("numpy_attention", "right_minimal_matmul"), assignment.parser)
    first, *others = submission.files
    text = first.data.decode().replace(
        "def attention(",
        "odd = []\n\n\ndef attention(Q, K, V, mask=None):\n"
        "    if not Q.flags.c_contiguous:\n        odd.append(1)\n"
        "    out, weights = attend(Q, K, V, mask)\n"
        "    if odd:\n        out = out + 1\n"
        "    return out, weights\n\n\ndef attend(",
    )
    changed = dataclasses.replace(
        submission, files=(SourceFile(name=first.name, data=text.encode()), *others)
    )
    card, failed = repaired(changed, assignment, sandbox)
    assert "definition" not in [c.id for c in failed.result.checks if c.outcome != Outcome.PASSED]
    assert card.repair is not None
