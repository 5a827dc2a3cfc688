"""Every sample submission comes to its expected result, and right ones do over many seeds."""

import collections
import concurrent.futures
import contextlib
import multiprocessing
import os
import secrets

import pytest

import specs
from harness.results import LEVELS, Outcome, Verdict
from harness.sandbox.container.engine import connect
from harness.sandbox.container.reaper import PROCESS_LABEL, labels
from tests import samples

SAMPLES = samples.samples()
IDS = [str(sample) for sample in SAMPLES]
WORDS = {
    "verdict": set(Verdict),
    "level": set(LEVELS),
    "outcomes": set(Outcome),
    "outcomes_in_process": set(Outcome),
}
KEYS = {*WORDS, "fails", "earned", "reason_contains"}


def of_kind(*kinds):
    chosen = [sample for sample in SAMPLES if sample.kind in kinds]
    return pytest.mark.parametrize("sample", chosen, ids=str)


each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=IDS)


@each_sample
def test_an_expected_result_is_one_that_grading_can_come_to(sample):
    assert {"verdict", "level"} <= sample.expected.keys() <= KEYS
    for key in WORDS.keys() & sample.expected.keys():
        value = sample.expected[key]
        assert set([value] if isinstance(value, str) else value) <= WORDS[key]
    ids = {check.id for check in specs.load(sample.spec).checks}
    assert set(sample.expected.get("fails", ())) <= ids


@pytest.mark.parametrize("name", sorted({sample.spec for sample in SAMPLES}))
def test_every_expected_result_has_a_submission(name):
    assert samples.expectations(name).keys() == {s.id for s in SAMPLES if s.spec == name}


@pytest.mark.parametrize("name", sorted({sample.spec for sample in SAMPLES}))
def test_every_check_is_failed_by_a_sample(name):
    failed = {check for s in SAMPLES if s.spec == name for check in s.expected.get("fails", ())}
    assert {check.id for check in specs.load(name).checks} <= failed


@of_kind("right")
def test_a_right_answer_is_expected_at_the_top(sample):
    read_by_people = specs.load(sample.spec).questions
    assert sample.expected["verdict"] == ("awaiting_review" if read_by_people else "passed")
    assert sample.expected["level"] == specs.load(sample.spec).top_level


@pytest.fixture(scope="module")
def inline(request, seeds):
    """Runs of the samples that were asked for, each in a fresh child of a process with torch."""
    names = {
        test_a_right_answer_passes_over_every_seed.__name__: seeds,
        test_a_wrong_answer_is_caught.__name__: [secrets.token_hex(4)],
    }
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "tests.samples"])
    with concurrent.futures.ProcessPoolExecutor(
        os.cpu_count(), context, max_tasks_per_child=1
    ) as pool:
        asked = [
            (item.callspec.params["sample"], names[item.originalname])
            for item in request.session.items
            if item.path == request.path and item.originalname in names
        ]
        yield {
            str(sample): (drawn, pool.submit(samples.run, sample, drawn)) for sample, drawn in asked
        }
        pool.shutdown(cancel_futures=True)


@of_kind("right", "source")
def test_a_right_answer_passes_over_every_seed(sample, inline):
    seeds, running = inline[str(sample)]
    for seed, checks in zip(seeds, running.result(), strict=True):
        found = samples.disagreements(sample, checks)
        assert not found, f"seed {seed}: " + "\n".join(found)


@of_kind("wrong")
def test_a_wrong_answer_is_caught(sample, inline):
    (seed,), running = inline[str(sample)]
    (checks,) = running.result()
    found = samples.disagreements(sample, checks)
    assert not found, f"seed {seed}: " + "\n".join(found)


@pytest.fixture(scope="module")
def contained(request, seeds):
    """Cards of the samples that were asked for, by assignment, from containers that serve on."""
    wanted = collections.defaultdict(list)
    for item in request.session.items:
        if item.path == request.path and "contained" in item.fixturenames:
            sample = item.callspec.params["sample"]
            wanted[sample.spec].append(sample)
    with contextlib.closing(connect()) as client:
        yield {
            name: samples.grade(name, chosen, seeds[0], client) for name, chosen in wanted.items()
        }
        mine = f"{PROCESS_LABEL}={labels(0)[PROCESS_LABEL]}"
        assert not client.containers.list(all=True, filters={"label": mine})


def in_containers():
    """Every sample; wrong ones of all assignments but the first in ``make test-all`` only.

    They have been caught already, in a process of ours.
    """
    for sample in SAMPLES:
        spared = sample.kind == "wrong" and sample.spec != "numpy_attention"
        yield pytest.param(sample, id=str(sample), marks=[pytest.mark.slow] if spared else [])


@pytest.mark.docker
@pytest.mark.parametrize("sample", list(in_containers()))
def test_a_sample_comes_to_its_expected_result_in_a_container(sample, contained, seeds):
    result = contained[sample.spec][sample.id].result
    assert result.verdict is not Verdict.INVALID, result.reason
    found = samples.disagreements(sample, result.checks) if result.checks else []
    assert not found, f"seed {seeds[0]}: " + "\n".join(found)
    assert result.verdict == sample.expected["verdict"], result.reason
    assert sample.expected.get("reason_contains", "") in result.reason
    outcomes = {str(check.outcome) for check in result.checks}
    assert set(sample.expected.get("outcomes", ())) <= outcomes
    for check in result.checks:
        assert check.message or check.outcome == "passed"
