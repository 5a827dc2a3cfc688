"""Flaws explain an entry point where they give every call that counts, in one style."""

import dataclasses
import math

import specs
from harness.diagnosis.all_calls import AllCalls
from harness.errors import CandidateRaised
from harness.protocol import Answer, Tensor
from tests.answers import answers

SPEC = specs.load("numpy_attention")
FLAWS = {flaw.id: flaw for flaw in SPEC.flaws}


def flaws(*ids):
    return tuple(FLAWS[id] for id in ids)


def given(*ids, spec=SPEC):
    return answers(spec, spec.with_flaws(*flaws(*ids)))


def test_what_gives_every_call_explains_them():
    survivor = AllCalls(SPEC, *given("no-scale")).of(flaws("no-scale"))
    assert (survivor.explanation, survivor.unexplained) == (flaws("no-scale"), 0)
    assert survivor.fine
    assert survivor.difference < 1e-12


def test_one_call_in_coarser_rounding_is_the_largest_difference_and_not_fine():
    calls, failed = given("no-scale")
    call = min((call for call in calls if call.check in failed), key=lambda call: call.size)
    outs = tuple(Tensor(out.values.astype("f4").astype("f8"), "f8") for out in call.answer.outs)
    coarse = dataclasses.replace(call, answer=dataclasses.replace(call.answer, outs=outs))
    some = [coarse if each is call else each for each in calls]
    survivor = AllCalls(SPEC, some, failed).of(flaws("no-scale"))
    assert not survivor.fine
    assert 1e-10 < survivor.difference < 1e-6


def test_the_call_that_rejects_is_known_and_tried_first_on_the_next():
    calls, failed = given("no-scale", "mask-ignored")
    proof = AllCalls(SPEC, calls, failed)
    assert proof.of(flaws("no-scale")) is None
    rejecting = proof.rejecting
    assert len(rejecting.arguments) == 4
    assert not proof.of_call(rejecting, flaws("no-scale"))
    assert proof.of_call(rejecting, flaws("no-scale", "mask-ignored"))
    assert proof.of(flaws("sigmoid")) is None
    assert proof.rejecting is rejecting


def test_a_single_flaw_that_does_not_explain_is_noted_by_how_far_off_it_is():
    proof = AllCalls(SPEC, *given("no-scale"))
    proof.of(flaws("sigmoid", "mask-ignored"))
    assert proof.next == math.inf
    proof.of(flaws("sigmoid"))
    assert 0 < proof.next < math.inf


def test_a_style_is_found_and_a_call_of_it_fits():
    _, style = SPEC.in_styles()
    both = ("softmax-over-queries", "mask-of-first-item")
    proof = AllCalls(SPEC, *given(*both, spec=style))
    survivor = proof.of(flaws(*both))
    assert survivor.style.reference["mask"] is style.reference["mask"]
    plain = AllCalls(dataclasses.replace(SPEC, styles=()), *given(*both, spec=style))
    assert plain.of(flaws(*both)) is None
    assert not plain.of_call(plain.rejecting, flaws(*both))
    assert proof.of_call(plain.rejecting, flaws(*both))


def test_exceptions_may_stay_unexplained_but_no_more_than_with_the_best():
    calls, failed = given("no-scale")
    raised = Answer(raised=CandidateRaised("KeyError", ""))
    some = [
        dataclasses.replace(call, answer=raised) if n % 9 == 0 else call
        for n, call in enumerate(calls)
    ]
    proof = AllCalls(SPEC, some, failed)
    expected = sum(call.answer.raised is not None for call in some)
    assert proof.of(flaws("no-scale")).unexplained == expected == proof.most
    proof.most = 0
    assert proof.of(flaws("no-scale")) is None


def test_a_call_that_passed_in_another_shape_does_not_count_and_one_that_failed_does():
    calls, failed = given("no-scale")
    place, call = next((n, c) for n, c in enumerate(calls) if c.check not in failed)
    outs = tuple(Tensor(out.values[None], out.dtype) for out in call.answer.outs)
    calls[place] = dataclasses.replace(call, answer=dataclasses.replace(call.answer, outs=outs))
    assert AllCalls(SPEC, calls, failed).of(flaws("no-scale"))
    assert AllCalls(SPEC, calls, {*failed, call.check}).of(flaws("no-scale")) is None
