"""What is shown of real flaws: the calls and pictures that ``gather`` picks for each."""

import numpy as np
import pytest

import specs
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.evidence.evidence import VALUES_CAP, gather
from harness.results import Curves, Diagnosis, Heat, Reach, Rearrangement, Stage, Visibility

NUMPY = specs.load("numpy_attention")
HOSTILE = (
    None,
    "0.5",
    float("nan"),
    np.zeros(0),
    np.zeros((0, 3)),
    np.float64(1.0),
    np.ones((2, 3, 5, 7)),
    np.full((1, 2, 2), np.nan),
    np.full((1, 2, 2), np.inf),
    np.ones((1, 2, 2), dtype=complex),
    np.ones((1, 2, 2), dtype=bool),
    {"out": 1},
    [[1, 2], [3]],
    object(),
)


def gathered(spec, functions, stages=()):
    checks, recording = run_checks(spec, DirectSession(functions, arrays=spec.arrays), "seed")
    named = [
        Diagnosis(flaw="f", title="", stage=stage, stages=(stage,), confidence="")
        for stage in stages
    ]
    return gather(spec, recording, checks, named)


def of_flaws(*ids, spec=NUMPY, stages=()):
    flaws = [flaw for flaw in spec.flaws if flaw.id in ids]
    assert len(flaws) == len(ids)
    return gathered(spec, spec.assemble(spec.with_flaws(*flaws)), stages)


def kinds(evidence):
    return [(one.check, [type(picture) for picture in one.pictures]) for one in evidence]


def test_a_right_answer_leaves_nothing_to_show():
    assert gathered(NUMPY, NUMPY.assemble(NUMPY.reference)) == ()


@pytest.mark.parametrize(
    ("flaw", "shown"),
    [
        ("no-scale", [("definition", [Heat])]),
        ("fill-zero", [("mask-before-softmax", [Visibility, Heat])]),
        ("nan-row", [("fully-masked-row", [Heat])]),
        ("split-by-reshape", [("head-split", [Rearrangement])]),
        ("merge-by-reshape", [("head-split", [Rearrangement])]),
        ("causal-no-diagonal", [("causal-mask", [Visibility])]),
        ("padding-off-by-one", [("padding-mask", [Visibility])]),
        ("pe-exponent-doubled", [("pe-values", [Curves])]),
    ],
)
def test_a_flaw_is_shown_by_the_picture_that_proves_it(flaw, shown):
    assert kinds(of_flaws(flaw)) == shown


def test_several_flaws_are_shown_one_by_one_the_central_check_first():
    evidence = of_flaws("scale-by-d", "fill-tiny", "split-by-reshape")
    assert [one.check for one in evidence] == ["definition", "mask-before-softmax", "head-split"]


def test_the_smallest_call_of_the_ladder_is_shown():
    (evidence,) = of_flaws("no-scale")
    assert evidence.inputs["Q"].shape == (1, 2, 2)


def test_a_mask_after_the_softmax_leaks_through_the_sum_and_changing_keys_shows_it():
    evidence = of_flaws("mask-after-softmax", stages=(Stage.MASK,))
    assert [one.check for one in evidence] == ["mask-before-softmax", "causal-perturbation"]
    (picture,) = evidence[1].pictures
    assert picture.found_by == "change"
    assert Reach.LEAK in picture.cells[0]


def test_no_leak_is_shown_when_the_diagnosis_says_that_the_mask_is_right():
    evidence = of_flaws("softmax-over-queries", stages=(Stage.NORMALISE,))
    assert kinds(evidence) == [("definition", [Heat])]


@pytest.mark.parametrize("stage", [None, Stage.HEADS, Stage.NORMALISE])
def test_heads_of_a_layer_that_are_mixed_are_shown_slice_by_slice(stage):
    pytest.importorskip("torch")
    layer = specs.load("torch_multi_head")
    evidence = of_flaws("split-by-reshape", spec=layer, stages=(stage,) if stage else ())
    shown = [one.pictures[0] for one in evidence if one.check == "head-split"]
    assert len(shown) == (stage is not Stage.NORMALISE)
    assert all(one.found_by == "slice" and Reach.LEAK in one.cells[0] for one in shown)


def test_weights_read_through_an_identity_are_weights():
    online = specs.load("online_softmax")
    flaw = next(flaw for flaw in online.flaws if "mask-before-softmax" in flaw.caught_by)
    evidence = gathered(online, online.assemble(online.with_flaws(flaw)))
    heats = [p for one in evidence for p in one.pictures if isinstance(p, Heat)]
    assert any(picture.probabilities for picture in heats)


@pytest.mark.slow
def test_every_flaw_of_every_spec_can_be_shown_and_nothing_shown_is_large():
    for name in ("numpy_attention", "positional_encoding", "online_softmax"):
        spec = specs.load(name)
        for flaw in spec.flaws:
            for one in of_flaws(flaw.id, spec=spec):
                arrays = (*one.inputs.values(), *one.expected.values(), *one.actual.values())
                assert all(len(array.values) <= VALUES_CAP for array in arrays)


def test_no_answer_whatever_it_is_breaks_the_gathering():
    for answer in (*HOSTILE, *zip(HOSTILE, reversed(HOSTILE), strict=True)):
        functions = {p.name: lambda *_, it=answer: it for p in NUMPY.entry_points}
        gathered(NUMPY, functions)
