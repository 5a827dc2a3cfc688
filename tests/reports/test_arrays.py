from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.results import Array, Evidence
from reports.arrays import CELLS, Comparison, Exhibit, Table, exhibit
from tests.reports import samples

Anything = npt.NDArray[np.generic]


def rows(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for matrix in table.matrices for row in matrix.rows]


def compared(expected: Anything | None, actual: Anything | None) -> Comparison:
    def named(values: Anything | None) -> dict[str, Array]:
        return {} if values is None else {"out": samples.array(values)}

    evidence = Evidence(check="x", call="f()", expected=named(expected), actual=named(actual))
    return exhibit(evidence, None).comparisons[0]


def shown(values: Anything) -> Table:
    evidence = Evidence(check="x", call="f(x)", inputs={"x": samples.array(values)})
    found: Exhibit = exhibit(evidence, None)
    return found.inputs[0]


def test_a_matrix_keeps_its_rows() -> None:
    assert rows(shown(np.array([[0.5, -1.25], [2.0, 3.0]]))) == [
        ["0.5000", "−1.2500"],
        ["2.0000", "3.0000"],
    ]


def test_whole_numbers_and_truth_values_are_written_as_such() -> None:
    assert rows(shown(np.array([[1, 0]]))) == [["1", "0"]]
    assert rows(shown(np.array([True, False]))) == [["True", "False"]]


def test_every_matrix_of_a_batch_says_where_it_sits() -> None:
    places = [matrix.place for matrix in shown(np.zeros((2, 2, 1, 1))).matrices]
    assert places == ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]


def test_the_only_matrix_of_a_batch_needs_no_place() -> None:
    assert [matrix.place for matrix in shown(np.zeros((1, 1, 2))).matrices] == [""]


def test_scalars_vectors_and_empty_arrays_have_tables_too() -> None:
    assert rows(shown(np.array(7.0))) == [["7"]]
    assert rows(shown(np.array([1.0, 2.0]))) == [["1", "2"]]
    assert rows(shown(np.zeros((2, 0)))) == []


def test_only_the_cells_that_differ_are_marked_and_counted() -> None:
    found = compared(np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]))
    assert found.actual is not None
    assert [cell.differs for cell in found.actual.matrices[0].rows[0]] == [False, True]
    assert found.remark == "1 of 2 values differs, first at [0, 1]: 2.5, expected 2"


def test_the_first_cell_that_differs_is_marked_as_such() -> None:
    found = compared(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 2.5, 3.5]]))
    assert found.actual is not None
    assert [cell.first for cell in found.actual.matrices[0].rows[0]] == [False, True, False]


def test_what_the_harness_says_is_wrong_is_marked_and_nothing_else() -> None:
    near, far = samples.array(np.array([1.0, 2.0])), samples.array(np.array([1.0 + 1e-9, 9.0]))
    given = {"expected": {"out": near}, "actual": {"out": far}}
    evidence = Evidence(check="x", call="f()", wrong={"out": (0,)}, **given)
    found = exhibit(evidence, None).comparisons[0].actual
    assert found is not None
    assert [cell.differs for cell in found.matrices[0].rows[0]] == [True, False]


def test_cells_that_differ_late_get_as_many_decimals_as_it_takes() -> None:
    found = compared(np.array([0.12345678]), np.array([0.12347678]))
    assert found.actual is not None
    assert found.expected is not None
    assert rows(found.actual) != rows(found.expected)


def test_nan_differs_from_a_number_and_not_from_nan() -> None:
    assert compared(np.array([0.0]), np.array([np.nan])).remark == (
        "1 of 1 value differs, first at [0]: NaN, expected 0"
    )
    assert compared(np.array([np.nan]), np.array([np.nan])).remark == "0 of 1 value differ"


def test_another_shape_is_named_and_nothing_is_marked() -> None:
    found = compared(np.zeros((2, 1)), np.ones(2))
    assert found.remark == "shape (2,), expected (2, 1)"


def test_an_output_that_never_came_back_says_so() -> None:
    assert compared(np.zeros(1), None).remark == "nothing came back"


def test_a_large_array_is_cut_and_says_how_many_values_are_missing() -> None:
    table = shown(np.zeros((100, 100)))
    assert table.hidden == 100 * 100 - CELLS
