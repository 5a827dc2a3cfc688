"""Attention in blocks: the adapter for other criteria, and memory as it is measured."""

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest

import specs
from harness.candidate.checks import run_check, run_checks, verdict
from harness.candidate.functions import Candidate
from harness.candidate.session import DirectSession, SandboxSession
from harness.intake.submission import load
from harness.results import Outcome
from harness.sandbox.base import LIMITS, Sandbox
from harness.sandbox.choice import opener
from harness.spec.draw import Draw
from specs.criteria.cases import AttentionCases, Shape
from specs.reference import online, stages
from tests.samples import path_of

SPEC = specs.load("online_softmax")
MEMORY = next(check for check in SPEC.checks if check.id == "memory-growth")

#: How busy the machine is must not change what a sample comes to.
PATIENT = dataclasses.replace(LIMITS["numpy"], exchange_seconds=60.0, submission_seconds=300.0)

#: Holds what the mask would be, a byte for each query and key.
HOLDS_BYTES = """
def attention(Q, K, V, block_size, mask=None):
    held = np.ones((Q.shape[1], K.shape[1]), dtype=bool)
    return in_blocks(Q, K, V, block_size, mask) * held[:1, :1]
"""


@pytest.fixture
def sandbox():
    opened = opener("container", "numpy", runtime=None, report=print)()
    yield opened
    opened.close()


def in_sandbox(sandbox: Sandbox, path: Path) -> SandboxSession:
    return SandboxSession(
        load(path),
        sandbox,
        PATIENT,
        arrays="numpy",
        blocked=False,
        clock=time.monotonic,
    )


def memory_growth(session):
    return run_check(MEMORY, SPEC, Candidate(SPEC, session), "seed")


@pytest.mark.docker
@pytest.mark.parametrize("sample", ["right_flash_style", "right_loop_over_items"])
def test_memory_of_a_right_answer_grows_in_proportion(sandbox, sample):
    result = memory_growth(in_sandbox(sandbox, path_of("online_softmax", sample)))
    assert result.outcome is Outcome.PASSED, result.message


@pytest.mark.docker
def test_a_byte_for_each_query_and_key_is_noticed(sandbox, tmp_path):
    right = path_of("online_softmax", "right_flash_style").read_text()
    inner = right.replace("def attention(", "def in_blocks(")
    (tmp_path / "holds.py").write_text(inner + HOLDS_BYTES)
    result = memory_growth(in_sandbox(sandbox, tmp_path / "holds.py"))
    assert result.outcome is Outcome.FAILED
    assert "more than in proportion" in result.message


def test_the_process_sandbox_does_not_measure_memory():
    sandbox = opener("process", "numpy", runtime=None, report=print)()
    try:
        result = memory_growth(in_sandbox(sandbox, path_of("online_softmax", "right_flash_style")))
    finally:
        sandbox.close()
    assert result.outcome is Outcome.NOT_APPLICABLE
    assert "only a container measures" in result.message


@pytest.mark.docker
def test_a_submission_is_measured_in_a_fresh_process(sandbox, tmp_path):
    (tmp_path / "counts.py").write_text(
        "calls = []\ndef attention(Q, K, V, block_size):\n"
        "    calls.append(1)\n    return Q * 0 + len(calls)\n"
    )
    session = in_sandbox(sandbox, tmp_path / "counts.py")
    point = Candidate(SPEC, session).entry_points("any")["attention_in_blocks"]
    arguments = (*(np.zeros((1, 2, 2)),) * 3, 1)
    for _ in range(2):
        point(*arguments)
        returned, _ = point.measured(arguments, after=arguments)
        assert returned["out"].values.max() == 2  # the warm-up, and the call itself


@pytest.mark.parametrize(
    ("queries", "keys", "size"), [(5, 7, 1), (6, 6, 3), (4, 12, 4), (1, 1, 1), (2, 6, 2), (8, 8, 4)]
)
def test_the_block_size_divides_both_lengths_and_is_not_all_keys(queries, keys, size):
    assert online.size_for(queries, keys) == size


def test_criteria_of_plain_attention_see_outputs_and_weights():
    functions = SPEC.assemble(SPEC.reference)
    session = DirectSession(functions, arrays="numpy")
    roles = SPEC.roles(Candidate(SPEC, session).entry_points("any"))
    cases = AttentionCases(Draw("seed", "any"), heads=(), dtype="f8")
    case = cases.masked(Shape((2,), 6, 8, 5, 3))
    returned = roles["attention"](*case.arguments)
    trace = stages.attention(stages.REFERENCE, *case.arguments)
    assert np.allclose(returned["out"].values, trace.out)
    assert np.allclose(returned["weights"].values, trace.weights)


def test_rescaling_stays_within_the_bound_of_plain_attention():
    """The bound must leave room: many blocks, large logits, and the worst of many draws."""
    worst = 0.0
    for seed in range(40):
        cases = AttentionCases(Draw(str(seed), "any"), heads=(), dtype="f8")
        case = cases.of(Shape((2,), 6, 48, 8, 4))
        case = case.replace(query=case.query * 20)
        (expected,) = online.expected(online.REFERENCE, *case.arguments, 1)
        full = stages.attention(stages.REFERENCE, *case.arguments).out
        worst = max(worst, float(np.max(abs(expected.values - full) / expected.roundoffs)))
    assert worst < 2.0**-53 / 4


TRIVIAL = {
    "zeros": lambda query, key, value: np.zeros((*query.shape[:2], value.shape[2])),
    "mean of V": lambda query, key, value: value.mean(1, keepdims=True).repeat(query.shape[1], 1),
    "first value": lambda query, key, value: value[:, :1].repeat(query.shape[1], 1),
    "best match": lambda query, key, value: np.take_along_axis(
        value, (query @ key.swapaxes(1, 2)).argmax(-1)[..., None], 1
    ),
    "random": lambda query, key, value: np.random.default_rng(0).normal(
        size=(*query.shape[:2], value.shape[2])
    ),
}


@pytest.mark.parametrize("answer", TRIVIAL.values(), ids=TRIVIAL)
def test_trivial_answers_earn_nothing(answer):
    def attention(query, key, value, size, mask=None):
        return answer(query, key, value)

    checks, _ = run_checks(SPEC, DirectSession({"attention": attention}, arrays="numpy"), "seed")
    assert not [check.id for check in checks if check.earned]
    assert verdict(checks) == "failed"
