"""The first wrong call tells flaws apart, and what they give for it is computed once."""

import numpy as np
import pytest

import specs
from harness.candidate.functions import Recorded
from harness.diagnosis.first_wrong_call import FirstWrongCall, most_informative_wrong_call, used
from harness.protocol import Answer, Tensor
from tests.answers import answers

SPEC = specs.load("numpy_attention")
FLAWS = {flaw.id: flaw for flaw in SPEC.flaws}


def found(*ids, spec=SPEC):
    calls, failed = answers(spec, spec.with_flaws(*(FLAWS[id] for id in ids)))
    return most_informative_wrong_call(SPEC, calls, failed)


def test_a_right_call_is_not_suspected():
    assert found("split-by-reshape") is None


def test_a_right_call_in_another_style_is_not_suspected():
    (_, style) = SPEC.in_styles()
    assert found(spec=style) is None


def test_the_simplest_calls_are_suspected_first():
    assert len(found("no-scale").call.arguments) == 3
    assert len(found("mask-ignored").call.arguments) == 4


def test_a_flaw_that_gives_the_answer_is_at_no_distance():
    first = found("no-scale")
    assert first.distance((FLAWS["no-scale"],)).fits
    assert not first.distance((FLAWS["sigmoid"],)).fits


def test_a_flaw_that_gives_the_answer_makes_up_the_whole_error():
    explained_variance_of_pairs = found("no-scale").explained_variance_of_pairs(
        [FLAWS["no-scale"], FLAWS["sigmoid"]]
    )
    assert explained_variance_of_pairs.diagonal() == pytest.approx([1.0, 0.0], abs=0.5)
    assert explained_variance_of_pairs[0, 1] == pytest.approx(1.0)


def test_a_flaw_of_what_the_call_does_not_use_changes_nothing():
    first = found("no-scale")
    assert first.uses(FLAWS["sigmoid"])
    assert first.changes(FLAWS["sigmoid"])
    assert not first.uses(FLAWS["mask-ignored"])
    assert not first.changes(FLAWS["mask-ignored"])


def test_style_matters_only_where_the_mask_is_used():
    assert not found("no-scale").has_style(FLAWS["softmax-over-queries"])
    masked = with_a_blocked_key((FLAWS["mask-ignored"],))
    assert masked.has_style(FLAWS["softmax-over-queries"])
    assert not masked.has_style(FLAWS["mask-ignored"])


def with_a_blocked_key(flaws):
    """A call in which no query sees the second key, answered by flaws of the second style."""
    plain, style = SPEC.in_styles()
    draw = np.random.default_rng(1)
    mask = np.ones((3, 4), bool)
    mask[:, 1] = False  # -inf gives zeros there and -1e9 equal weights
    given = (*(draw.normal(size=(length, 2)) for length in (3, 4, 4)), mask)
    made = style.expect(style.with_flaws(*flaws))["attention"](*given)
    answer = Answer(outs=tuple(Tensor.of(one.values) for one in made))
    point = next(point for point in SPEC.entry_points if point.name == "attention")
    call = Recorded(check="c", point=point, arguments=given, answer=answer)
    return FirstWrongCall(SPEC, (plain, style), call)


def test_the_nearest_style_counts_where_all_are_tried():
    over_queries = (FLAWS["softmax-over-queries"],)
    first = with_a_blocked_key(over_queries)
    assert not first.distance(over_queries).fits
    assert first.least_distance(over_queries).fits
    assert first.fits(over_queries)
    assert not first.fits((FLAWS["softmax-over-everything"],))


def test_flaws_are_grouped_that_replace_the_same_parts_and_give_the_same():
    first = found("no-scale")
    twice, over_queries = FLAWS["scaled-twice"], FLAWS["softmax-over-queries"]
    groups = first.grouped([FLAWS["scale-by-d"], over_queries, twice, FLAWS["sigmoid"]])
    assert groups[FLAWS["scale-by-d"]] == [FLAWS["scale-by-d"], twice]
    assert groups[over_queries] == [over_queries]
    assert twice not in groups
    early, late = FLAWS["batch-dropped"].spellings()
    assert len(first.grouped([early, late])) == 2


def test_an_exception_is_compared_with_what_flaws_raise():
    first = found("calls-a-library")
    assert first.raised
    assert first.raises_alike((FLAWS["calls-a-library"],))
    assert not first.raises_alike((FLAWS["no-scale"],))


@pytest.mark.parametrize("masked", [False, True])
def test_the_parts_that_a_call_uses_are_those_that_it_calls(masked):
    draw = np.random.default_rng(1)
    given = [draw.normal(size=(1, 2, 2)) for _ in range(3)]
    given += [np.ones((2, 2), dtype=bool)] if masked else []
    names = used(SPEC.reference, lambda parts: SPEC.expect(parts)["attention"](*given))
    assert {"score", "scale", "normalise", "aggregate"} <= names
    assert ("mask" in names) is masked
    assert "split_heads" not in names
