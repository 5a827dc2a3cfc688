"""A submission with terms of its own gives, adapted, what the reference gives in the brief's."""

import numpy as np
import pytest

from harness.candidate.session import DirectSession
from harness.conventions.adapting_session import AdaptingSession
from harness.conventions.convention import Convention, Places
from harness.conventions.mask_forms import MaskForm, forms
from harness.protocol import Call, Gradients, Tensor
from harness.spec.draw import Draw
from specs.reference import stages

PLACES = Places(0, 1, 2, 3)
USUAL = (0, 1, 2, 3)
ADDITIVE = MaskForm(meaning="additive", kind="float")


def reference(q, k, v, mask=None):
    trace = stages.attention(stages.REFERENCE, q, k, v, mask)
    return trace.out, trace.weights


def adapted(function, **convention):
    known = Convention(**{"name": "theirs", "order": USUAL, "places": PLACES, **convention})
    session = DirectSession({"theirs": function}, arrays="numpy")
    return AdaptingSession(session, {"attention": known}, {})


def case(*leading, mask=True):
    draw = Draw("seed", "case")
    given = [draw.normal(*leading, *shape) for shape in ((5, 6), (7, 6), (7, 9))]
    return (*given, draw.mask(*leading, 5, 7)) if mask else tuple(given)


def same(session, arguments):
    (answer,) = session.exchange([Call(name="attention", arguments=arguments)])
    assert answer.raised is None, answer.raised
    for out, right in zip(answer.outs, reference(*arguments), strict=True):
        np.testing.assert_allclose(out.values, right, atol=1e-12)


def reader(form, axes):
    """Return attention that insists on one form of a mask."""

    def theirs(q, k, v, mask=None):
        if mask is None:
            return reference(q, k, v)
        if form.meaning == "lengths":
            assert mask.shape == (len(q),)
            assert mask.dtype == np.int64
            allowed = np.arange(k.shape[-2]) < mask.reshape(-1, *(1,) * (q.ndim - 1))
            return reference(q, k, v, allowed)
        assert mask.ndim == len(form.axes or axes)
        assert mask.dtype == {"bool": bool, "int": np.int64, "float": q.dtype}[form.kind]
        allowed = mask == 0 if form.meaning in ("block", "additive") else mask != 0
        lengths = dict(zip(axes, (*q.shape[:-1], k.shape[-2]), strict=True)) | {"1": 1}
        wanted = form.axes or axes
        assert mask.shape == tuple(lengths[letter] for letter in wanted)
        index = [slice(None) if letter in wanted.replace("1", "") else None for letter in axes]
        letters = wanted.replace("1", "")
        bare = allowed.reshape([lengths[letter] for letter in letters])
        bare = bare.transpose([letters.index(letter) for letter in axes if letter in letters])
        return reference(q, k, v, bare[tuple(index)])

    return theirs


@pytest.mark.parametrize("form", list(forms(MaskForm(), headed=False)), ids=str)
def test_a_form_of_a_mask_without_heads_says_all_that_the_brief_s_mask_says(form):
    same(adapted(reader(form, "bqk"), mask=form), case(2))


@pytest.mark.parametrize("form", list(forms(MaskForm(), headed=True)), ids=str)
def test_a_form_of_a_mask_with_heads_says_all_that_the_brief_s_mask_says(form):
    same(adapted(reader(form, "bhqk"), mask=form, headed=True), case(2, 3))


@pytest.mark.parametrize("form", list(forms(MaskForm(), headed=False)), ids=str)
def test_a_call_that_a_form_can_say_at_once_is_one_call(form):
    seen = []

    def theirs(*arguments):
        seen.append(arguments)
        return reader(form, "bqk")(*arguments)

    q, k, v = case(2, mask=False)
    mask = np.broadcast_to(np.arange(7) < 4, (2, 5, 7)).copy()
    same(adapted(theirs, mask=form), (q, k, v, mask))
    assert len(seen) == 1


def test_arguments_go_where_the_submission_has_them():
    same(adapted(lambda v, k, q, m=None: reference(q, k, v, m), order=(2, 1, 0, 3)), case(2))


def test_a_parameter_of_the_submission_s_own_is_none():
    def theirs(q, k, v, bias, m=None):
        assert bias is None
        return reference(q, k, v, m)

    same(adapted(theirs, order=(0, 1, 2, None, 3)), case(2))


def test_keyword_only_parameters_are_given_by_keyword():
    def theirs(*, k, q, v, m=None):
        return reference(q, k, v, m)

    same(adapted(theirs, order=(1, 0, 2, 3), keywords=("k", "q", "v", "m")), case(2))


@pytest.mark.parametrize("masked", [False, True])
def test_a_required_mask_is_given_and_keeps_all_where_the_brief_gives_none(masked):
    def theirs(q, k, v, m):
        return reference(q, k, v, m)

    same(adapted(theirs, mask_required=True), case(2, mask=masked))


def test_time_may_come_first():
    def theirs(q, k, v, m=None):
        q, k, v = (array.swapaxes(0, 1) for array in (q, k, v))
        out, weights = reference(q, k, v, m)
        return out.swapaxes(0, 1), weights

    same(adapted(theirs, layout="time-first"), case(2))


def test_items_may_go_in_one_by_one():
    def theirs(q, k, v, m=None):
        assert q.ndim == 2
        assert m is None or m.shape == (5, 7)
        return reference(q, k, v, m)

    same(adapted(theirs, layout="single"), case(2))
    same(adapted(theirs, layout="single"), case(2, mask=False))


def test_heads_may_be_folded_into_the_batch():
    def theirs(q, k, v, m=None):
        assert q.ndim == 3
        return reference(q, k, v, m)

    same(adapted(theirs, layout="folded", headed=True), case(2, 3))


def test_a_dimension_of_heads_may_be_added():
    def theirs(q, k, v, m=None):
        assert q.shape[1] == 1
        return reference(q, k, v, m)

    same(adapted(theirs, layout="heads"), case(2))


def test_outputs_are_picked_by_position():
    session = adapted(lambda q, k, v, m=None: reference(q, k, v, m)[::-1], returns=(1, 0))
    same(session, case(2))


def test_weights_that_are_not_returned_are_read_as_the_output_for_v_the_identity():
    session = adapted(
        lambda q, k, v, m=None: reference(q, k, v, m)[0], returns=(0, None), identity=True
    )
    same(session, case(2))


def test_a_mask_in_which_the_brief_s_true_blocks_means_the_same_to_one_in_which_it_keeps():
    session = adapted(reference, blocking=True, mask=MaskForm(meaning="keep"))
    q, k, v, allowed = case(2)
    (answer,) = session.exchange([Call(name="attention", arguments=(q, k, v, ~allowed))])
    np.testing.assert_allclose(answer.outs[0].values, reference(q, k, v, allowed)[0], atol=1e-12)


def test_an_exception_is_the_answer():
    def theirs(q, k, v, m=None):
        raise ValueError("no")

    session = adapted(theirs, layout="single")
    (answer,) = session.exchange([Call(name="attention", arguments=case(2))])
    assert answer.raised is not None
    assert answer.raised.kind == "ValueError"


def test_arguments_come_back_as_the_brief_gave_them():
    session = adapted(lambda v, k, q, m=None: reference(q, k, v, m), order=(2, 1, 0, 3))
    arguments = case(2)
    (answer,) = session.exchange([Call(name="attention", arguments=arguments, echo=True)])
    for before, after in zip(arguments, answer.echo, strict=True):
        assert isinstance(after, Tensor)
        np.testing.assert_array_equal(after.values, before)


def test_an_argument_that_was_changed_comes_back_changed():
    def theirs(v, k, q, m=None):
        q *= 2
        return reference(q, k, v, m)

    session = adapted(theirs, order=(2, 1, 0, 3))
    arguments = case(2)
    (answer,) = session.exchange([Call(name="attention", arguments=arguments, echo=True)])
    np.testing.assert_array_equal(answer.echo[0].values, 2 * arguments[0])
    np.testing.assert_array_equal(answer.echo[1].values, arguments[1])


def test_gradients_are_asked_for_in_the_submission_s_order_and_layout():
    sent = []

    class Session:
        def exchange(self, steps):
            sent.extend(steps)
            return []

    known = Convention(name="theirs", order=(2, 1, 0, 3), places=PLACES, layout="time-first")
    q, k, v = case(2, mask=False)
    step = Gradients(
        name="attention", arguments=(q, k, v), cotangents=(q @ np.ones((6, 9)),), of=(0,)
    )
    sent, _ = AdaptingSession(Session(), {"attention": known}, {}).translated(step)
    assert sent[0].of == (2,)
    assert sent[0].arguments[2].shape == (5, 2, 6)
    assert sent[0].cotangents[0].shape == (5, 2, 9)


def test_gradients_of_keyword_only_arguments_are_asked_for_where_they_are_sent():
    known = Convention(
        name="theirs", order=(None, 1, 0, 2), keywords=("k", "q", "v"), places=PLACES
    )
    step = Gradients(name="attention", arguments=case(2, mask=False), of=(0, 2))
    (sent,), _ = AdaptingSession(None, {"attention": known}, {}).translated(step)
    given = [*sent.arguments, *sent.keywords.values()]
    for place, wanted in zip(sent.of, step.of, strict=True):
        np.testing.assert_array_equal(given[place], step.arguments[wanted])


def test_an_added_mask_has_the_format_of_the_queries_also_where_numpy_lacks_it():
    q, k, v, mask = case(2)
    given = [Tensor.rounded(array.astype("f4"), "bf2") for array in (q, k, v)]
    known = Convention(name="theirs", order=USUAL, places=PLACES, mask=ADDITIVE)
    step = Call(name="attention", arguments=(*given, mask))
    (sent,), _ = AdaptingSession(None, {"attention": known}, {}).translated(step)
    assert sent.arguments[3].dtype == "bf2"
    np.testing.assert_array_equal(sent.arguments[3].values == 0, mask)
