from __future__ import annotations

import re

import msgspec
import numpy as np
import pytest

from harness.results import Curves, Heat, Reach, Rearrangement, Visibility, number
from reports import render_card
from reports.pages import TEMPLATES
from reports.pictures import Figure, drawn
from reports.pictures.grid import Cell, Grid, brief
from tests.reports import samples


def grid(figure: Figure, group: int = 0, place: int = 0) -> Grid:
    return figure.groups[group].grids[place]


def texts(one: Grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in one.cells]


def heat(expected: list[list[float]], actual: list[list[float]]) -> Heat:
    return samples.heat(np.array([expected]), np.array([actual]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (0.5, "0.50"), (-1.25, "−1.25"), (0.0027, "3e−3"), (123.4, "123"),
        (4e25, "4e25"), (-1.2e-16, "−1e−16"), (999.9, "1000"), (float("nan"), "NaN"),
    ],
)  # fmt: skip
def test_a_number_in_a_cell_is_short_and_keeps_its_sign(value: float, text: str) -> None:
    assert brief(value) == text


def test_a_heat_map_shows_expected_actual_and_their_difference() -> None:
    figure = drawn(heat([[0.75, 0.25]], [[0.5, 0.5]]))
    assert [group.title for group in figure.groups] == ["expected", "actual", "actual − expected"]
    assert [texts(grid(figure, n)) for n in range(3)] == [
        [["0.75", "0.25"]], [["0.50", "0.50"]], [["−0.25", "+0.25"]],
    ]  # fmt: skip


def test_wrong_cells_are_marked_in_the_actual_matrix_only() -> None:
    figure = drawn(heat([[0.75, 0.25], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]]))
    assert [[cell.wrong for cell in row] for row in grid(figure, 1).cells] == [
        [True, True], [False, False],
    ]  # fmt: skip
    assert not any(cell.wrong for row in grid(figure, 0).cells for cell in row)


def test_rows_of_weights_that_do_not_sum_to_one_are_said_and_marked() -> None:
    figure = drawn(heat([[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.1], [0.3, 0.9]]))
    assert "Rows sum to 0.80 and 1.20, expected 1; it is the columns that sum to 1." in figure.claim
    assert [cell.wrong for cell in grid(figure, 1).sums] == [True, True]
    assert [cell.text for cell in grid(figure, 1).below] == ["1.00", "1.00"]


def test_a_softmax_over_everything_is_said() -> None:
    figure = drawn(heat([[0.9, 0.1]] * 2, [[0.45, 0.05]] * 2))
    assert "the whole matrix that sums to 1" in figure.claim


@pytest.mark.parametrize(("actual", "how"), [([[0.9, 0.1]], "sharper"), ([[0.6, 0.4]], "flatter")])
def test_weights_that_are_only_sharper_or_flatter_are_said_to_be(
    actual: list[list[float]], how: str
) -> None:
    assert f"weights are {how}" in drawn(heat([[0.75, 0.25]], actual)).claim


def test_weights_in_another_order_are_not_called_sharper() -> None:
    assert "prefers" not in drawn(heat([[0.75, 0.25]], [[0.1, 0.9]])).claim


def test_weights_that_were_read_through_the_values_are_named_as_such() -> None:
    read = msgspec.structs.replace(heat([[0.9, 0.1]], [[0.5, 0.5]]), output="out")
    assert drawn(read).title == "out for values that are the identity, which are the weights"


def test_nan_is_hatched_named_and_beside_it_any_finite_number_would_do() -> None:
    figure = drawn(
        msgspec.structs.replace(
            heat([[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [np.nan, np.nan]]),
            expected=((1.0, 0.0), (None, None)),
        )
    )
    assert texts(grid(figure, 0))[1] == ["any", "any"]
    assert [(cell.text, cell.hatched) for cell in grid(figure, 1).cells[1]] == [("NaN", True)] * 2
    assert figure.claim == (
        "NaN or infinite: query 1; any finite number would do, as no key is allowed there."
    )


def test_a_part_of_a_matrix_says_where_it_lies() -> None:
    part = msgspec.structs.replace(
        heat([[0.5, 0.5]], [[0.4, 0.6]]), corner=(3, 4), whole=(9, 9), place="[1]"
    )
    figure = drawn(part)
    assert figure.title == "weights [1], 1 × 2 of 9 × 9"
    assert grid(figure).rows == ("query 3",)
    assert grid(figure).columns == ("4", "5")
    assert grid(figure).sums == ()


def test_a_leak_is_marked_by_a_sign_and_said_in_words() -> None:
    figure = drawn(samples.leak())
    first = grid(figure).cells[0]
    assert [cell.sign for cell in first] == ["✓", "✕", "·", "·"]
    assert figure.claim.startswith(
        "Query 0 gives 0.25 of its weight to key 1, which the mask blocks (and 2 more)."
    )
    assert "Query 2 gives nothing to key 0, which is allowed." in figure.claim
    assert "The weights of query 3 are not numbers." in figure.claim


def test_the_legend_explains_every_sign_that_occurs_and_no_other() -> None:
    assert [key.cell.sign for key in drawn(samples.leak()).legend] == ["✓", "·", "✕", "○", "~", "?"]
    calm = msgspec.structs.replace(samples.leak(), cells=((Reach.OPEN,),), amounts=())
    assert [key.meaning for key in drawn(calm).legend] == ["allowed, and seen"]


@pytest.mark.parametrize(
    ("found_by", "claim"),
    [
        ("change", "Query 0 moves when key 2 changes, which it may not see."),
        ("mask", "The mask lets query 0 see key 2, which it must not."),
    ],
)
def test_a_leak_is_said_by_how_it_was_found(found_by: str, claim: str) -> None:
    one = Visibility(
        found_by=found_by, place="", rows="query", columns="key", corner=(0, 1), whole=(1, 2),
        cells=((Reach.OPEN, Reach.LEAK),),
    )  # fmt: skip
    assert drawn(one).claim == claim


def test_slices_that_come_from_another_head_are_said_and_explained() -> None:
    one = Visibility(
        found_by="slice", place="", rows="out slice", columns="v slice", whole=(2, 2),
        cells=((Reach.LOST, Reach.LEAK), (Reach.CLOSED, Reach.OPEN)),
    )  # fmt: skip
    figure = drawn(one)
    assert figure.claim == (
        "Out slice 0 moves when v slice 1 changes, which belongs to another head. "
        "Out slice 0 does not move when v slice 0 changes, which belongs to the same head."
    )
    assert "another slice, but moved by it: heads are mixed" in [k.meaning for k in figure.legend]
    assert "v slice 1 another slice, but moved by it" in grid(figure, 0).described


def test_heads_show_where_each_element_came_from() -> None:
    figure = drawn(samples.heads())
    assert texts(grid(figure, 0)) == [["A0", "A1", "A2", "A3"], ["B0", "B1", "B2", "B3"]]
    assert texts(grid(figure, 1, 1)) == [["A2", "A3"], ["B2", "B3"]]
    assert texts(grid(figure, 2, 0)) == [["A0", "A1"], ["A2", "A3"]]
    assert [cell.wrong for cell in grid(figure, 2, 0).cells[1]] == [True, True]
    assert figure.claim.startswith("Head 0 holds numbers of position A only")
    assert "should be B0, and is A2" in figure.claim


def test_an_element_from_nowhere_is_a_question_mark() -> None:
    lost = msgspec.structs.replace(samples.heads(), actual=(None, 1, 4, 5, 2, 3, 6, 7))
    assert texts(grid(drawn(lost), 2, 0))[0] == ["?", "A1"]
    assert "is a number that is not in the input" in drawn(lost).claim


def test_the_item_of_the_batch_that_is_wrong_is_shown() -> None:
    batch = Rearrangement(
        source="x", source_shape=(2, 2, 2), output="y", shape=(2, 2, 2),
        expected=tuple(range(8)), actual_shape=(2, 2, 2), actual=(0, 1, 2, 3, 4, 5, 7, 6),
    )  # fmt: skip
    assert texts(grid(drawn(batch), 2)) == [["1A0", "1A1"], ["1B1", "1B0"]]


def test_another_shape_is_said_and_drawn() -> None:
    other = msgspec.structs.replace(samples.heads(), actual_shape=(1, 4, 2, 1))
    assert drawn(other).claim == "The shape is (1, 4, 2, 1), expected (1, 2, 2, 2)."
    assert len(drawn(other).groups[2].grids) == 4


def test_a_curve_is_drawn_solid_and_dashed_and_its_gaps_left_out() -> None:
    figure = drawn(samples.waves())
    assert figure.claim.startswith("14 of 16 columns differ; the first 2 of them are shown.")
    assert len(figure.curves[0].expected.split()) == 64
    broken = Curves(
        output="y", call="f(9)", along="position", columns=(0,), wrong=1, total=1,
        expected=((0.0, 1.0, 2.0),), actual=((0.0, number(np.nan), number(np.inf)),),
    )  # fmt: skip
    assert len(drawn(broken).curves[0].actual.split()) == 1


@pytest.mark.parametrize("picture", [samples.leak(), samples.heads(), samples.waves()])
def test_every_drawing_says_the_same_in_words(picture: Visibility | Rearrangement | Curves) -> None:
    figure = drawn(picture)
    said = [one.described for group in figure.groups for one in group.grids]
    said += [one.described for one in figure.curves]
    assert said
    assert all(said)
    assert figure.claim


def test_what_is_wrong_is_never_marked_by_colour_alone() -> None:
    html = render_card(samples.composite())
    wrong = re.findall(r'<g transform="[^"]*" class="[^"]*wrong">.*?</g>', html, re.S)
    assert len(wrong) > 8
    assert all('class="corner"' in mark and re.search(r"<text[^>]*>.*\S.*</text>", mark, re.S)
               for mark in wrong)  # fmt: skip


def test_pictures_are_images_with_a_name() -> None:
    html = render_card(samples.composite())
    images = re.findall(r"<svg[^>]*>", html)
    assert len(images) > 6
    named = re.compile(r'aria-hidden="true"|role="img".* aria-label="[^"]{12,}"')
    assert all(named.search(one) for one in images)


def test_pictures_are_left_out_of_a_card_that_has_no_room() -> None:
    crowd = msgspec.structs.replace(
        samples.composite(), evidence=samples.composite().evidence * 2, log="x" * 400_000
    )
    assert len(render_card(crowd).encode()) <= 300_000


def test_a_cell_without_a_text_is_still_a_cell() -> None:
    assert Cell("").tone == "plain"


def variables(scheme: str) -> dict[str, str]:
    """Return the colours of a scheme; what the dark one does not name is the light one's."""
    found: dict[str, str] = {}
    for name in ("style.css", "pictures.css"):
        text = (TEMPLATES / name).read_text().split("@media print")[0]
        light, *dark = text.split("@media (prefers-color-scheme: dark)")
        found |= dict(re.findall(r"--([\w-]+): ([^;]+);", light))
        if scheme == "dark":
            found |= dict(re.findall(r"--([\w-]+): ([^;]+);", dark[0]))
    return found


def luminance(colour: list[float]) -> float:
    """Relative luminance, WCAG 2.2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def rgb(text: str) -> list[float]:
    return [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("hue", "share"), [("plus", None), ("minus", None), ("bad", 0.3)])
def test_numbers_are_legible_on_the_deepest_ground(
    scheme: str, hue: str, share: float | None
) -> None:
    named = variables(scheme)
    deepest = float(named["deepest"]) if share is None else share
    pairs = zip(rgb(named["raised"]), rgb(named[hue]), strict=True)
    ground = [paper * (1 - deepest) + tone * deepest for paper, tone in pairs]
    lights = sorted([luminance(ground), luminance(rgb(named["ink"]))])
    assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 4.5
