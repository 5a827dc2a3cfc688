"""What a batch says about its people together."""

from __future__ import annotations

from reports.cohort import bug_counts
from tests.reports import samples


def test_bugs_that_are_named_together_are_counted_one_by_one() -> None:
    composite = samples.composite().result
    assert bug_counts([composite, composite]) == [
        ("scores divided by d_k", 2),
        ("blocked scores set to 0", 2),
        ("heads split by a reshape alone", 2),
    ]
