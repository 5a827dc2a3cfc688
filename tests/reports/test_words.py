from __future__ import annotations

import pytest

from harness.results import Level, Outcome, Verdict
from reports.words import (
    LEVEL_WORDS,
    OUTCOMES,
    VERDICTS,
    best_first,
    duration,
    failing,
    figure,
    figures,
    multiple,
)
from tests.reports import samples


def test_every_outcome_verdict_and_level_has_a_word() -> None:
    assert (set(OUTCOMES), set(VERDICTS), set(LEVEL_WORDS)) == (
        set(Outcome),
        set(Verdict),
        set(Level),
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (-1.25, "−1.25"), ("nan", "NaN"), ("-inf", "−∞"), (1e-20, "1e−20")],
)
def test_a_figure_is_written_with_a_true_minus(value: float | str, text: str) -> None:
    assert figure(value) == text


def test_two_numbers_that_differ_in_the_eighth_digit_are_printed_unlike() -> None:
    assert figures(0.443182112, 0.443182119) == ("0.443182112", "0.443182119")


def test_two_numbers_that_differ_in_the_last_bit_are_printed_unlike() -> None:
    assert len(set(figures(0.1, 0.1 + 2**-56))) == 2


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (3.14, "3.1 times what rounding explains"),
        (18421.0, "18,400 times what rounding explains"),
        (5e14, "over a million times what rounding explains"),
        ("nan", "not comparable"),
        ("inf", "beyond any bound"),
    ],
)
def test_an_error_is_a_multiple_of_the_rounding_bound(ratio: float | str, text: str) -> None:
    assert multiple(ratio) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "< 1 ms"), (0.0123, "12 ms"), (5.0, "5.0 s"), (float("nan"), "–")]
)
def test_a_duration_has_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_failing_checks_start_at_the_lowest_level() -> None:
    levels = [check.level for check in failing(samples.over_queries().result.checks)]
    assert levels == [Level.PASS] * 6 + [Level.GOOD]


def test_a_batch_is_listed_best_first_and_ungraded_last() -> None:
    names = [one.id for one in best_first(samples.batch().submissions)]
    assert names[:2] == ["ada-lovelace", "katherine-johnson"]
    assert names[-2:] == ["empty-handed", "unlucky"]
