import html
import threading

import numpy as np
import pytest

from harness.errors import UsageError
from harness.notebook import check
from harness.results import Verdict


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.nan_to_num(softmax(np.maximum(scores, -1e300)))
    return weights @ V, weights


def without_scale(Q, K, V, mask=None):
    return attention(Q * np.sqrt(Q.shape[-1]), K, V, mask)


def test_a_function_of_the_notebook_is_checked_alone():
    found = check(attention, spec="numpy_attention", seed="seed")
    assert found.passed
    ids = {one.id for one in found.card.result.checks}
    assert "definition" in ids
    assert "pe-values" not in ids  # it needs positional_encoding


def test_a_wrong_function_of_another_name_is_told_and_shown_as_a_card():
    found = check(without_scale, spec="numpy_attention", seed="seed")
    assert found.card.result.verdict is Verdict.FAILED
    assert repr(found).startswith("Not right yet: scores are multiplied by 1 for d_k = 4")
    assert "import numpy as np\n" in repr(found)
    assert "from " not in repr(found).split("import numpy as np")[1].splitlines()[1]
    assert "run the cell again" in repr(found)
    page = found._repr_html_()
    assert '<iframe sandbox="" ' in page
    assert html.escape("Scores are divided by √d_k") in page


def test_an_error_of_the_notebooks_own_code_is_told():
    def attention(Q, K, V, mask=None):
        raise RuntimeError("not yet")

    assert "RuntimeError: not yet" in repr(check(attention, spec="numpy_attention"))


@pytest.mark.parametrize(
    ("objects", "message"),
    [((), "given nothing"), ((softmax, len), "given len")],
)
def test_what_the_assignment_does_not_ask_is_a_mistake_of_the_user(objects, message):
    with pytest.raises(UsageError, match=message):
        check(*objects, spec="numpy_attention")


def test_a_call_that_never_ends_is_interrupted_and_named():
    def attention(Q, K, V, mask=None):
        while True:
            pass

    before = threading.active_count()
    found = check(attention, spec="numpy_attention", seconds=0.2)
    assert found.card.result.verdict is Verdict.FAILED
    assert repr(found).startswith("It left its limits: it did not answer within 0.2 s")
    assert threading.active_count() == before
