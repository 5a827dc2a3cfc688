"""What a step of the search sends does not depend on what comes back."""

import numpy as np
import pytest

import specs
from harness.candidate.session import Definition, DirectSession, Parameter
from harness.conventions.convention import Places
from harness.conventions.named_orders import by_name
from harness.conventions.trials import FRAME, ConventionTrials
from harness.errors import CandidateRaised
from harness.protocol import Answer, Tensor, encode
from harness.spec.draw import Draw
from specs.reference import stages

SPECS = ("numpy_attention", "torch_sdpa", "torch_single_head", "torch_multi_head")


def point_of(name):
    return next(point for point in specs.load(name).entry_points if point.is_core)


def named(point, *, letters=False):
    takes = [
        Parameter(c if letters else n) for n, c in zip(point.parameters, "abcdefg", strict=False)
    ]
    makes = tuple(map(Parameter, point.constructor))
    if point.constructor:
        one = Definition(name=point.name, kind="class", takes=makes, call=tuple(takes))
    else:
        one = Definition(name=point.name, kind="function", takes=tuple(takes))
    return list(by_name(point, one))


class Listening:
    """Answers every step in one way, and keeps the bytes that were sent."""

    def __init__(self, answer):
        self.sent = []
        self._answer = answer

    def exchange(self, steps):
        entries, blobs = encode(steps)
        self.sent.append((repr(entries), b"".join(bytes(blob) for blob in blobs)))
        return [self._answer(n) for n, _ in enumerate(steps)]


def shaped(*shape):
    return Tensor(np.random.default_rng(3).normal(size=shape), "f8")


ANSWERS = {
    "raising": lambda n: Answer(raised=CandidateRaised("ValueError", "no")),
    "nothing": lambda n: Answer(form="nothing"),
    "right shapes": lambda n: Answer(outs=(shaped(2, 5, 9), shaped(2, 5, 7))),
    "now and then": lambda n: Answer(outs=(shaped(2, 5, 9),)) if n % 3 else Answer(form="nothing"),
}


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("letters", [False, True])
def test_the_bytes_of_a_step_are_the_same_whatever_is_answered(name, letters):
    point = point_of(name)
    sent = []
    for answer in ANSWERS.values():
        session = Listening(answer)
        trials = ConventionTrials(point, Draw("", "conventions"), "f4")
        conventions = named(point, letters=letters)
        trials.as_asked(conventions[0], session)
        trials.by_plain_calls(conventions, session)
        trials.by_masks(conventions[-1], session)
        sent.append(session.sent)
    assert all(one == sent[0] for one in sent[1:])


def test_no_frame_holds_more_steps_than_its_header_has_room_for():
    point, session = point_of("numpy_attention"), Listening(ANSWERS["nothing"])
    trials = ConventionTrials(point, Draw("", "conventions"), "f8")
    trials.by_masks(named(point, letters=True)[0], session)
    assert len(session.sent) > 1
    assert max(len(entries) for entries, _ in session.sent) < 1 << 16
    assert FRAME < 200


def tried(attention):
    point = point_of("numpy_attention")
    trials = ConventionTrials(point, Draw("", "conventions"), "f8")
    session = DirectSession({"attention": attention}, arrays="numpy")
    return trials, trials.by_masks(named(point)[0], session)


def first_consistent(attention):
    trials, ran = tried(attention)
    return next((one.convention for one in ran if trials.masks_consistently(one)), None)


def reference(q, k, v, mask=None):
    trace = stages.attention(stages.REFERENCE, q, k, v, mask)
    return trace.out, trace.weights


def test_the_brief_s_own_form_is_the_first_that_is_consistent_for_a_right_answer():
    convention = first_consistent(reference)
    assert (convention.layout, convention.mask.words(convention.mask)) == ("batch", "")
    assert convention.mask.meaning == "keep"


def test_a_mask_that_blocks_is_found_by_trial():
    convention = first_consistent(lambda q, k, v, mask=None: reference(q, k, v, mask == 0))
    assert convention.mask.meaning == "block"


def test_a_mask_without_effect_is_consistent_under_no_form():
    assert first_consistent(lambda q, k, v, mask=None: reference(q, k, v)) is None


def test_a_wrong_softmax_does_not_hide_what_the_mask_means():
    def wrong(q, k, v, mask=None):
        parts = {**stages.REFERENCE, "scale": lambda logits, width: logits}
        trace = stages.attention(parts, q, k, v, mask)
        return trace.out, trace.weights

    assert first_consistent(wrong).mask.meaning == "keep"


def test_places_are_read_from_the_brief_s_names():
    assert Places.of(point_of("torch_single_head")) == Places(0, 1, 1, 2)
    assert Places.of(point_of("torch_sdpa")) == Places(0, 1, 2, 3)
