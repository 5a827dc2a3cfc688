"""What a candidate is told: nothing that was not chosen, field by field."""

import enum
import itertools
import re
import types
import typing

import msgspec
import numpy as np
import pytest
import torch

import specs
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.candidate_view import BROKEN, OWN, CandidateCard, for_candidate, literal
from harness.evidence.evidence import gather
from harness.results import (
    Array,
    Card,
    CheckResult,
    Environment,
    Evidence,
    Facet,
    Level,
    Outcome,
    SubmissionResult,
    Verdict,
    to_json,
)
from reports import render_candidate

ENVIRONMENT = Environment(takehome="1", sandbox="container", isolated=True)

#: Fields of a card that a candidate may see, by their place in it.
ALLOWED = {
    "schema", "spec", "title", "log",
    "result.id", "result.reason", "result.earned", "result.possible",
    "result.conventions", "result.notes",
    "result.checks.id", "result.checks.title", "result.checks.hint",
    "result.checks.points", "result.checks.earned",
    "result.cause.text",
    "evidence.call", "evidence.made", "evidence.inputs", "evidence.inputs.dtype",
    "evidence.inputs.shape",
    "evidence.inputs.values",
    "sources.name", "sources.text", "sources.html",
    "environment.takehome", "environment.python", "environment.numpy", "environment.torch",
}  # fmt: skip
#: Fields that are told only where the candidate's own code gave no answer.
ALLOWED_OF_OWN = {"result.checks.message", "result.checks.line", "result.checks.file"}


class Canaries:
    """A card in which every text and every number is one of its kind."""

    def __init__(self, **fixed):
        self.fixed = fixed
        self.numbers = itertools.count(700_001)
        self.where = {}

    def fill(self, kind, path):
        if path in self.fixed:
            return self.fixed[path]
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin is tuple:
            return tuple(self.fill(part, path) for part in inner if part is not Ellipsis)
        if origin is dict:
            return {self.fill(inner[0], path): self.fill(inner[1], path)}
        if origin in (types.UnionType, typing.Union):
            return self.fill(next(part for part in inner if part is not type(None)), path)
        if kind is typing.Any:
            kind = str
        if kind is Card and path:  # that of code in an answer; it is laid out like this one
            return None
        if issubclass(kind, msgspec.Struct):
            hints = typing.get_type_hints(kind)
            return kind(
                **{
                    name: self.fill(hints[name], f"{path}.{name}".lstrip("."))
                    for name in kind.__struct_fields__
                }
            )
        if issubclass(kind, enum.Enum):
            return next(iter(kind))
        if issubclass(kind, bool):
            return True
        number = next(self.numbers)
        self.where[str(number)] = path
        return f"canary{number}" if issubclass(kind, str) else kind(number)


def told(outcome):
    canaries = Canaries(
        **{
            "result.checks.outcome": outcome,
            "result.checks.id": "the-check",
            "evidence.check": "the-check",
            "evidence.inputs.shape": (1,),
            "result.verdict": Verdict.FAILED,
            "result.checks.level": Level.PASS,
        }
    )
    card = for_candidate(canaries.fill(Card, ""))
    page = render_candidate(card)
    text = to_json(card).decode() + page
    return {canaries.where[number] for number in re.findall(r"7\d{5}", text)
            if number in canaries.where}  # fmt: skip


@pytest.mark.parametrize("outcome", Outcome)
def test_no_field_reaches_the_candidate_that_is_not_on_the_list(outcome):
    assert told(outcome) <= ALLOWED | (ALLOWED_OF_OWN if outcome in OWN else set())


def test_the_canaries_that_may_sing_do():
    seen = told(Outcome.RAISED)
    assert {"result.checks.message", "result.checks.hint", "evidence.inputs.values"} <= seen
    assert {"log", "sources.text", "result.notes", "evidence.call", "result.checks.title"} <= seen


def test_a_new_field_of_a_card_stays_with_the_interviewer():
    assert "questions" not in CandidateCard.__struct_fields__
    assert "repair" not in CandidateCard.__struct_fields__


NUMPY = specs.load("numpy_attention")


@pytest.mark.parametrize(
    "flaw", ["scale-by-d", "fill-zero", "split-by-reshape", "pe-exponent-doubled", "no-scale"]
)
def test_no_expected_value_and_no_seed_is_in_a_file_for_a_candidate(flaw):
    parts = NUMPY.with_flaws(next(one for one in NUMPY.flaws if one.id == flaw))
    session = DirectSession(NUMPY.assemble(parts), arrays="numpy")
    checks, recording = run_checks(NUMPY, session, "canary-seed")
    evidence = gather(NUMPY, recording, checks)
    result = SubmissionResult(id="ada", sha256="0" * 64, verdict=Verdict.FAILED, checks=checks)
    card = Card(spec="s", title="t", environment=ENVIRONMENT, result=result, evidence=evidence)
    secret = {f"{c.mismatch.expected!r}"[:10] for c in checks if c.mismatch}
    secret |= {repr(v)[:10] for one in evidence for a in one.expected.values() for v in a.values}
    given = {repr(v)[:10] for one in evidence for a in one.inputs.values() for v in a.values}
    secret = {value for value in secret - given if len(value) == 10}
    whole, made = to_json(card).decode(), for_candidate(card)
    assert secret
    assert all(value in whole for value in secret)
    for text in (to_json(made).decode(), render_candidate(made)):
        assert not [value for value in secret if value in text]
        assert "canary-seed" not in text
        assert "expected" not in text.split("</style>")[-1]


def check(outcome, **fields):
    usual = {"level": Level.PASS, "facet": Facet.NUMERIC, "points": 1, "earned": 0}
    return CheckResult(id="c", title="T.", outcome=outcome, **(usual | fields))


def card(one=None, **fields):
    usual = {"id": "ada", "sha256": "0", "verdict": Verdict.FAILED}
    result = SubmissionResult(checks=(one,) if one else (), **(usual | fields))
    return Card(spec="s", title="t", environment=ENVIRONMENT, result=result)


def test_what_the_candidates_own_code_raised_is_told_with_its_line():
    one = check(Outcome.RAISED, message="E: oh", line=3, file="a.py")
    (seen,) = for_candidate(card(one)).checks
    assert (seen.message, seen.line, seen.file) == ("E: oh", 3, "a.py")


def test_a_wrong_answer_is_told_by_its_hint_alone():
    one = check(Outcome.FAILED, message="out is 1, expected 2", hint="Divide by √d.")
    (seen,) = for_candidate(card(one)).checks
    assert (seen.message, seen.hint) == ("", "Divide by √d.")


def test_a_harness_that_broke_tells_nothing_of_why():
    reason = "the check itself broke: expected 0.25"
    assert for_candidate(card(verdict=Verdict.INVALID, reason=reason)).reason == BROKEN
    refused = card(verdict=Verdict.UNGRADEABLE, reason="it is a link")
    assert for_candidate(refused).reason == "it is a link"


def test_a_call_of_which_a_part_was_cut_is_not_offered():
    whole = Array(dtype="float64", shape=(2,), values=(1.0, 2.0))
    cut = Array(dtype="float64", shape=(3,), values=(1.0, 2.0))
    for given, offered in ((whole, 1), (cut, 0)):
        evidence = Evidence(check="c", call="f(x)", inputs={"x": given}, expected={"y": whole})
        one = msgspec.structs.replace(card(check(Outcome.FAILED)), evidence=(evidence,))
        assert len(for_candidate(one).calls) == offered


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (Array(dtype="float64", shape=(2, 1), values=(0.1, -3.0)), [[0.1], [-3.0]]),
        (Array(dtype="bool", shape=(2,), values=(1.0, 0.0)), [True, False]),
        (Array(dtype="float32", shape=(1,), values=("inf",)), [float("inf")]),
        (Array(dtype="int64", shape=(), values=(4.0,)), 4),
        (Array(dtype="float64", shape=(2, 0, 3), values=()), [[], []]),
    ],
)
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_an_array_is_written_as_python_reads_it(array, values, arrays):
    read = eval(literal(array, arrays), {"np": np, "torch": torch})
    assert tuple(read.shape) == array.shape
    assert str(read.dtype).removeprefix("torch.") == array.dtype
    assert read.reshape(-1).tolist() == np.reshape(values, -1).tolist()
