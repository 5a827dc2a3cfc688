"""What is wrong is named where it is known, and nothing is claimed where it is not."""

import itertools

import numpy as np
import pytest

import specs
from harness.candidate.functions import Recorded
from harness.diagnosis.diagnosis import diagnose, unexplained
from harness.evidence.evidence import gather
from harness.results import Stage
from tests.answers import SEED, diagnosed, named, run, with_flaws

NUMPY = specs.load("numpy_attention")
FLAWS = {flaw.id: flaw for flaw in NUMPY.flaws}


def of_flaws(*ids, spec=NUMPY):
    return said_of(with_flaws(spec, *ids), spec)


def said_of(functions, spec=NUMPY):
    return diagnosed(spec, functions)


def attention_of(**parts):
    return NUMPY.assemble({**NUMPY.reference, **parts})


@pytest.mark.parametrize("id", FLAWS)
def test_a_flaw_is_named_or_one_that_is_the_same_function(id):
    said = of_flaws(id)
    titles = {title for one in said for title in (one.title, *one.alternatives)}
    assert FLAWS[id].title in titles


@pytest.mark.parametrize(
    "pair",
    [
        ("no-scale", "mask-ignored"),
        ("scale-by-length", "mask-after-softmax"),
        ("softmax-over-queries", "fill-minus-one"),
        ("keys-reshaped", "scale-by-d"),
        ("no-scale", "assumes-contiguous"),
        ("polarity-inverted", "keys-aggregated"),
        ("causal-triu", "no-scale"),
        ("split-by-reshape", "pe-base"),
    ],
    ids="+".join,
)
def test_two_flaws_are_named_together(pair):
    said = of_flaws(*pair)
    wanted = {
        " and ".join(FLAWS[id].title for id in order) for order in itertools.permutations(pair)
    }
    titles = {title for one in said for title in (one.title, *one.alternatives)}
    assert titles & wanted or {FLAWS[id].title for id in pair} <= titles


def test_a_right_answer_is_given_no_diagnosis():
    assert said_of(NUMPY.assemble(NUMPY.reference)) == ()


def test_a_right_answer_that_is_refused_its_points_for_another_reason_is_given_none():
    def bored(x, axis=-1):
        raise RuntimeError("not today")

    functions = {**NUMPY.assemble(NUMPY.reference), "softmax": bored}
    assert said_of(functions) == ()


def test_a_class_names_all_its_members():
    (said,) = of_flaws("scaled-twice")
    assert {said.title, *said.alternatives} == {
        FLAWS["scale-by-d"].title,
        FLAWS["scaled-twice"].title,
    }


@pytest.mark.parametrize("id", [flaw.id for flaw in NUMPY.flaws if flaw.also])
def test_a_mistake_is_named_in_each_of_its_spellings(id):
    for spelling in FLAWS[id].spellings():
        said = said_of(NUMPY.assemble({**NUMPY.reference, **spelling.parts}))
        assert named(said) == {id}


def test_two_flaws_of_one_stage_are_named_together():
    assert named(of_flaws("mask-after-softmax", "polarity-inverted")) == {
        "mask-after-softmax",
        "polarity-inverted",
    }


def test_a_pair_names_the_stages_of_both():
    (said,) = of_flaws("no-scale", "mask-ignored")
    assert said.stages == (Stage.SCALE, Stage.MASK)


def test_a_pair_asks_the_questions_of_both_and_one_question_once():
    (said,) = of_flaws("no-scale", "mask-ignored")
    assert {(one.question, one.answer) for one in said.questions} == {
        (FLAWS[id].question, FLAWS[id].answer) for id in ("no-scale", "mask-ignored")
    }
    pytest.importorskip("torch")
    (same,) = of_flaws("split-by-reshape", "merge-by-reshape", spec=specs.load("torch_multi_head"))
    assert len(same.questions) == 1


def test_the_evidence_says_how_far_off_it_is_over_how_many_calls():
    (said,) = of_flaws("softmax-over-queries")
    assert said.confidence.startswith(
        "Your attention equals the reference with the softmax over the queries (largest difference"
    )
    assert "calls" in said.confidence
    assert "the nearest other explanation differs by" in said.confidence


def test_where_no_call_answered_nothing_is_said_of_values():
    (said,) = of_flaws("calls-a-library")
    assert said.confidence.startswith(
        "Your attention raises what the reference raises with a library"
    )
    assert "difference" not in said.confidence


@pytest.mark.parametrize("name", ["torch_single_head", "torch_multi_head"])
def test_dropout_that_is_always_on_in_a_layer_is_told_from_noise(name):
    torch = pytest.importorskip("torch")
    spec = specs.load(name)
    assert named(of_flaws("always-random", spec=spec)) == {"always-random"}

    def noise(weights, width):
        return weights * torch.empty_like(weights).uniform_(0.5, 1.5)

    assert said_of(spec.assemble({**spec.reference, "scale_weights": noise}), spec) == ()


def test_a_flaw_of_two_entry_points_is_named_once():
    (said,) = of_flaws("no-maximum")
    assert said.confidence.startswith("Your softmax and attention equal the reference")


def test_float32_inside_float64_hides_no_flaw():
    def single(logits, width):
        return (logits / width).astype(np.float32).astype(np.float64)

    (said,) = said_of(attention_of(scale=single))
    assert said.flaw == "scale-by-d"


def test_an_unknown_mistake_is_given_no_name():
    assert said_of(attention_of(scale=lambda logits, width: logits / width**0.4)) == ()


@pytest.mark.parametrize(
    "spec", [name for name in specs.TITLES if specs.load(name).image == "numpy"]
)
def test_calls_that_all_raise_for_another_reason_are_given_no_name(spec):
    def broken(*arguments, **keywords):
        raise AttributeError("typo")

    loaded = specs.load(spec)
    assert said_of({point.name: broken for point in loaded.entry_points}, loaded) == ()


def test_masked_calls_that_raise_for_another_reason_are_given_no_name():
    right = NUMPY.assemble(NUMPY.reference)

    def outdated(query, key, value, mask=None):
        return right["attention"](query, key, value, None if mask is None else np.infty)

    assert said_of({**right, "attention": outdated}) == ()


def test_what_raises_now_and_then_is_told_from_what_is_wrong():
    right = attention_of(scale=lambda logits, width: logits)
    calls = itertools.count()

    def flaky(*arguments):
        if next(calls) % 7 == 3:
            raise OSError("disk full")
        return right["attention"](*arguments)

    said = said_of({**right, "attention": flaky})
    assert named(said) == {"no-scale"}
    assert "raised for another reason" in said[0].confidence
    assert not said[0].complete


def test_a_diagnosis_is_complete_where_every_wrong_output_is_explained():
    (said,) = of_flaws("no-scale")
    assert said.complete
    assert all(one.complete for one in of_flaws("split-by-reshape", "pe-base"))
    functions = NUMPY.assemble(NUMPY.with_flaws(FLAWS["no-scale"]))
    (partial,) = said_of({**functions, "split_heads": lambda x, heads: np.zeros(3)})
    assert named([partial]) == {"no-scale"}
    assert not partial.complete


class Growing:
    """Attends to the keys of earlier calls as well."""

    def __init__(self):
        self.calls = 0

    def __call__(self, query, key, value, mask=None):
        self.calls += 1
        right = NUMPY.assemble(NUMPY.reference)["attention"]
        out, weights = right(query, key, value, mask)
        return out + 0.01 * self.calls, weights


UNRULY = {
    "random": lambda q, *_: (np.random.default_rng().normal(size=q.shape), q),
    "noisy": lambda q, k, v, mask=None: tuple(
        a * np.random.default_rng().uniform(0.5, 1.5, a.shape)
        for a in NUMPY.assemble(NUMPY.reference)["attention"](q, k, v, mask)
    ),
    "stateful": Growing(),
    "NaN": lambda q, k, v, mask=None: (
        q[..., :1] * v[..., :1, :] * np.nan,
        q @ k.swapaxes(-1, -2) * np.nan,
    ),
    "of another shape": lambda q, k, v, mask=None: (q[0], k[0]),
    "nothing": lambda *_: None,
    "text": lambda *_: "attention",
    "complex": lambda q, *_: (q.astype(complex), q),
    "empty": lambda *_: (np.zeros(0), np.zeros(0)),
    "huge": lambda q, k, v, mask=None: (q @ k.swapaxes(-1, -2) @ v * 1e300, q @ k.swapaxes(-1, -2)),
}


@pytest.mark.parametrize("unruly", UNRULY)
def test_an_unruly_answer_breaks_nothing_and_is_given_no_name(unruly):
    functions = {**NUMPY.assemble(NUMPY.reference), "attention": UNRULY[unruly]}
    assert said_of(functions) == ()


def test_what_is_known_is_said_where_nothing_is_claimed():
    functions = attention_of(scale=lambda logits, width: logits / width**0.4)
    checks, recording = run(NUMPY, functions)
    said = unexplained(checks, gather(NUMPY, recording, checks))
    assert said.startswith("No known mistake, nor two together, gives these results.")
    assert "(stage scale): Scores are divided by √d_k" in said
    assert "attention(Q, K, V) with Q (1, " in said


def test_nothing_is_known_of_what_did_not_answer():
    assert unexplained((), ()) == ""


@pytest.mark.parametrize("name", ["torch_multi_head", "kv_cache", "transformer_block"])
def test_heads_split_and_merged_by_view_are_found_before_other_pairs(name, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("harness.diagnosis.pairs.TRIES", 1)
    (said,) = of_flaws("split-by-reshape", "merge-by-reshape", spec=specs.load(name))
    assert set(said.flaw.split("+")) == {"split-by-reshape", "merge-by-reshape"}


def test_the_reported_composite_of_heads_scale_and_mask_is_found():
    pytest.importorskip("torch")
    spec = specs.load("torch_multi_head")
    ids = ("split-by-reshape", "merge-by-reshape", "scale-by-d-model", "mask-ignored")
    (said,) = of_flaws(*ids, spec=spec)
    assert set(said.flaw.split("+")) == set(ids)


def test_a_recording_is_all_that_is_needed():
    checks, recording = run(NUMPY, NUMPY.assemble(NUMPY.with_flaws(FLAWS["no-scale"])))
    assert all(isinstance(one, Recorded) for one in recording)
    (said,) = diagnose(NUMPY, tuple(recording), checks, SEED)
    assert said.flaw == "no-scale"


def broken_for(is_broken):
    """Return the reference, whose attention raises for the calls that a function picks."""
    functions = NUMPY.assemble(NUMPY.reference)
    right = functions["attention"]

    def attention(query, *others):
        if is_broken(query):
            raise ValueError("axes don't match array")
        return right(query, *others)

    return {**functions, "attention": attention}


def test_exceptions_alone_are_given_no_name():
    assert said_of(broken_for(lambda query: True)) == ()
