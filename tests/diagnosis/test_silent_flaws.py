"""What no output shows is named from the way in which checks fail."""

import pytest

import specs
from harness.diagnosis.diagnosis import diagnose
from tests.answers import SEED, diagnosed, named, run, with_flaws


@pytest.mark.parametrize(
    "flaws",
    [
        ("no-scale", "softmax-detached"),
        ("scale-by-heads", "dropout-always-on"),
        ("softmax-detached",),
        ("query-scaled-in-place", "softmax-detached"),
        ("float-mask-compared", "fill-overflows-half", "dropout-missing"),
    ],
    ids="+".join,
)
def test_what_no_output_shows_is_named_from_how_checks_fail(flaws):
    pytest.importorskip("torch")
    spec = specs.load("torch_sdpa")
    assert named(diagnosed(spec, with_flaws(spec, *flaws))) == set(flaws)


def test_what_is_claimed_of_checks_are_those_that_were_run_again():
    pytest.importorskip("torch")
    spec = specs.load("torch_sdpa")
    (alone,) = diagnosed(spec, with_flaws(spec, "softmax-detached"))
    assert "it fails the same 2 checks in the same way" in alone.confidence
    checks, recording = run(spec, with_flaws(spec, "no-scale", "softmax-detached"))
    (beside,) = diagnose(spec, recording, checks, SEED)
    failed = sum(check.outcome != "passed" for check in checks)
    assert f"the same result in 2 of {failed} failed checks, run again" in beside.confidence


def test_it_is_named_though_it_makes_some_calls_raise():
    pytest.importorskip("torch")
    spec = specs.load("torch_multi_head")
    checks, recording = run(spec, with_flaws(spec, "returns-float32"))
    assert any(call.answer.raised for call in recording)
    assert named(diagnose(spec, recording, checks, SEED)) == {"returns-float32"}


def test_it_is_not_named_beside_a_flaw_that_another_entry_point_does_not_have():
    spec = specs.load("numpy_attention")
    wrong = with_flaws(spec, "no-maximum", "query-scaled-in-place")
    (said,) = diagnosed(spec, {**wrong, "softmax": with_flaws(spec)["softmax"]})
    assert said.confidence.startswith("Your attention equals the reference")
    assert said.flaw == "no-maximum"


def test_beside_random_outputs_it_is_named_only_where_every_check_fails_alike():
    pytest.importorskip("torch")
    spec = specs.load("torch_single_head")
    wrong = with_flaws(spec, "mask-of-first-item", "always-random", "global-maximum")
    assert named(diagnosed(spec, wrong)) == {"always-random"}  # and not NaN that is hidden


def test_no_check_is_run_again_for_wrong_numbers_where_outputs_are_wrong(monkeypatch):
    pytest.importorskip("torch")
    spec = specs.load("transformer_block")
    checks, recording = run(spec, with_flaws(spec, "no-activation"))
    assert {"definition", "gradients"} <= {c.id for c in checks if c.outcome != "passed"}
    monkeypatch.setattr("harness.diagnosis.replayed_checks.run_check", None)
    assert named(diagnose(spec, recording, checks, SEED)) == {"no-activation"}
