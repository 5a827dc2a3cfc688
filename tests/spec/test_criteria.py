import pytest

from harness import Facet, Level, Stage, criterion
from harness.errors import SpecError
from harness.spec.criteria import Criterion


@criterion(facet=Facet.WEIGHTS, hint="Normalise.", earns_with="definition")
def rows_sum_to_one(attention, draw, judge):
    """Each row sums to 1.

    Whatever the mask is.
    """


def test_a_criterion_says_what_its_function_says():
    assert isinstance(rows_sum_to_one, Criterion)
    assert rows_sum_to_one.id == "rows-sum-to-one"
    assert rows_sum_to_one.title == "Each row sums to 1."
    assert rows_sum_to_one.why == "Whatever the mask is."
    assert rows_sum_to_one.needs == ("attention", "draw", "judge")
    assert (rows_sum_to_one.facet, rows_sum_to_one.hint) == (Facet.WEIGHTS, "Normalise.")


def test_a_criterion_without_a_docstring_is_an_error_of_the_spec():
    with pytest.raises(SpecError, match="criterion no-words has no docstring"):

        @criterion(facet=Facet.SHAPE, hint="")
        def no_words(attention):
            pass


def test_a_check_counts_a_criterion_at_a_level_for_points():
    check = rows_sum_to_one.at(Level.GOOD, points=3)
    assert (check.id, check.level, check.points) == ("rows-sum-to-one", Level.GOOD, 3)
    assert check.earns_with == "definition"


@pytest.mark.parametrize("core", ["pe-values", ""])
def test_a_spec_may_name_its_own_core_check_or_none(core):
    check = rows_sum_to_one.at(Level.PASS, points=1, earns_with=core)
    assert check.earns_with == core
    assert rows_sum_to_one.earns_with == "definition"


def test_a_criterion_says_at_which_stage_it_looks_and_what_can_be_asked():
    make = criterion(
        facet=Facet.WEIGHTS, hint="h", stage=Stage.SCALE, question="Why √d?", answer="Variance."
    )
    made = make(rows_sum_to_one.body)
    assert (made.stage, made.question, made.answer) == (Stage.SCALE, "Why √d?", "Variance.")
    plain = criterion(facet=Facet.WEIGHTS, hint="h")(rows_sum_to_one.body)
    assert (plain.stage, plain.question) == (None, "")
