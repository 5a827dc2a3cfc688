"""Every sample submission comes to its expected result, and right ones do over many seeds."""

import concurrent.futures
import contextlib
import functools
import itertools
import multiprocessing
import os

import pytest

import specs
from harness.results import LEVELS, Outcome, Verdict
from harness.sandbox.container.engine import connect
from harness.sandbox.container.reaper import PROCESS_LABEL, labels
from tests import samples

SAMPLES = samples.samples()
WORDS = {
    "verdict": set(Verdict),
    "level": set(LEVELS),
    "outcomes": set(Outcome),
    "outcomes_in_process": set(Outcome),
}
KEYS = {*WORDS, "fails", "earned", "reason_contains", "mistake"}


def of_kind(*kinds):
    chosen = [sample for sample in SAMPLES if sample.kind in kinds]
    return pytest.mark.parametrize("sample", [_param(sample) for sample in chosen])


def _param(sample, *marks):
    """A test of a sample, beside the others of its assignment: they are graded together."""
    group = pytest.mark.xdist_group(f"samples of {sample.spec}")
    return pytest.param(sample, id=str(sample), marks=[group, *marks])


def test_an_expected_result_is_one_that_grading_can_come_to():
    for sample in SAMPLES:
        assert {"verdict", "level"} <= sample.expected.keys() <= KEYS, sample
        for key in WORDS.keys() & sample.expected.keys():
            value = sample.expected[key]
            assert set([value] if isinstance(value, str) else value) <= WORDS[key], sample
        ids = {check.id for check in specs.load(sample.spec).checks}
        assert set(sample.expected.get("fails", ())) <= ids, sample


def test_every_wrong_or_broken_sample_says_its_mistake_in_one_line():
    for sample in SAMPLES:
        if sample.path.is_relative_to(samples.FOLDER) and sample.kind in ("wrong", "bad"):
            mistake = sample.expected.get("mistake", "")
            assert mistake.endswith(".") and "\n" not in mistake, sample
            assert len(mistake) <= 120, sample


@pytest.mark.parametrize("name", sorted({sample.spec for sample in SAMPLES}))
def test_every_expected_result_has_a_submission(name):
    assert samples.expectations(name).keys() == {s.id for s in SAMPLES if s.spec == name}


@pytest.mark.parametrize("name", sorted({sample.spec for sample in SAMPLES}))
def test_every_check_is_failed_by_a_sample(name):
    failed = {check for s in SAMPLES if s.spec == name for check in s.expected.get("fails", ())}
    assert {check.id for check in specs.load(name).checks} <= failed


def test_a_right_answer_is_expected_at_the_top():
    for sample in SAMPLES:
        if sample.kind == "right":
            read_by_people = specs.load(sample.spec).questions
            verdict = "awaiting_review" if read_by_people else "passed"
            assert sample.expected["verdict"] == verdict, sample
            assert sample.expected["level"] == specs.load(sample.spec).top_level, sample


def asked_for(request, spec, fixture):
    """The tests of this run that take a fixture with a sample of one assignment."""
    return [
        item
        for item in request.session.items
        if item.path == request.path
        and fixture in item.fixturenames
        and item.callspec.params["sample"].spec == spec
    ]


def processes():
    """How many processes a worker of pytest-xdist may keep busy."""
    return max(1, os.cpu_count() // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.fixture(scope="module")
def inline(request, seeds):
    """What runs a sample's assignment, each sample in a fresh child of a process with torch."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "tests.samples"])
    with concurrent.futures.ProcessPoolExecutor(
        processes(), context, max_tasks_per_child=1
    ) as pool:

        @functools.cache
        def running(spec):
            runs = {}
            for item in asked_for(request, spec, "inline"):
                sample = item.callspec.params["sample"]
                drawn = seeds[:1] if sample.kind == "wrong" else seeds[1:]
                runs[sample.id] = pool.submit(samples.run, sample, drawn)
            return runs

        yield lambda sample: running(sample.spec)[sample.id].result()
        pool.shutdown(cancel_futures=True)


@of_kind("right", "source")
def test_a_right_answer_passes_over_every_seed(sample, inline, seeds):
    # The first seed is that of the containers.
    for seed, checks in zip(seeds[1:], inline(sample), strict=True):
        found = samples.disagreements(sample, checks)
        assert not found, f"seed {seed}: " + "\n".join(found)


@of_kind("wrong")
def test_a_wrong_answer_is_caught(sample, inline, seeds):
    (checks,) = inline(sample)
    found = samples.disagreements(sample, checks)
    assert not found, f"seed {seeds[0]}: " + "\n".join(found)


@pytest.fixture(scope="module")
def contained(request, seeds):
    """What gives a sample's card, from containers that serve all of its assignment."""
    with contextlib.closing(connect()) as client:

        @functools.cache
        def cards(spec):
            asked = asked_for(request, spec, "contained")
            chosen = [item.callspec.params["sample"] for item in asked]
            return samples.grade(spec, chosen, seeds[0], client)

        yield lambda sample: cards(sample.spec)[sample.id]
        mine = f"{PROCESS_LABEL}={labels(0)[PROCESS_LABEL]}"
        assert not client.containers.list(all=True, filters={"label": mine})


def in_containers():
    """Every right answer, every eighth wrong one and one of each bad kind; ``make test-all``: all.

    Wrong ones have been caught already, in a process of ours, and what a bad one does to a
    container does not depend on what it was asked.
    """
    wrong = (sample for sample in SAMPLES if sample.kind == "wrong")
    bad = {sample.id: sample for sample in SAMPLES if sample.kind == "bad"}
    chosen = {*map(str, itertools.islice(wrong, 0, None, 8)), *map(str, bad.values())}
    for sample in SAMPLES:
        spared = sample.kind in ("wrong", "bad") and str(sample) not in chosen
        yield _param(sample, *([pytest.mark.slow] if spared else []))


@pytest.mark.docker
@pytest.mark.parametrize("sample", list(in_containers()))
def test_a_sample_comes_to_its_expected_result_in_a_container(sample, contained, seeds):
    result = contained(sample).result
    assert result.verdict is not Verdict.INVALID, result.reason
    found = samples.disagreements(sample, result.checks) if result.checks else []
    assert not found, f"seed {seeds[0]}: " + "\n".join(found)
    assert result.verdict == sample.expected["verdict"], result.reason
    assert sample.expected.get("reason_contains", "") in result.reason
    outcomes = {str(check.outcome) for check in result.checks}
    assert set(sample.expected.get("outcomes", ())) <= outcomes
    for check in result.checks:
        assert check.message or check.outcome == "passed"
