from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import msgspec
import pytest
from junitparser import JUnitXml

from harness.results import Card, Outcome, Verdict
from reports import render_junit
from reports.junit import JUNIT
from tests.reports import samples


def cases(card: Card) -> dict[str, ElementTree.Element]:
    tree = ElementTree.fromstring(render_junit(samples.batch((card,))).encode())
    return {case.attrib["name"].partition(":")[0]: case for case in tree.iter("testcase")}


def test_every_submission_is_a_suite_and_every_check_a_case() -> None:
    report = JUnitXml.fromstring(render_junit(samples.batch()).encode())
    assert [suite.name for suite in report][:2] == ["ada-lovelace", "grace-hopper"]
    assert [suite.tests for suite in report][:2] == [len(samples.CHECKS)] * 2


@pytest.mark.parametrize(
    "outcome",
    [one for one in Outcome if one.is_missed and one not in (Outcome.NOT_RUN, Outcome.INVALID)],
)
def test_what_the_submission_did_is_a_failure_of_that_type(outcome: Outcome) -> None:
    card = samples.card("x", "x", samples.checks({"scale": samples.miss(outcome, "why")}))
    failure = cases(card)["scale"].find("failure")
    assert failure is not None
    assert failure.attrib == {"type": outcome.value, "message": "why"}


def test_what_we_broke_is_an_error() -> None:
    broken = samples.checks({"scale": samples.miss(Outcome.INVALID, "engine gone")})
    assert cases(samples.card("x", "x", broken))["scale"].find("error") is not None
    assert cases(samples.invalid())["gradeable"].find("error") is not None


def test_a_check_that_did_not_run_is_skipped() -> None:
    assert cases(samples.crashed())["determinism"].find("skipped") is not None


def test_what_a_person_has_yet_to_read_is_skipped() -> None:
    card = samples.ungradeable()
    unread = msgspec.structs.replace(card.result, verdict=Verdict.AWAITING_REVIEW)
    assert cases(msgspec.structs.replace(card, result=unread))["review"].find("skipped") is not None


def test_what_cannot_be_graded_fails_with_its_reason() -> None:
    failure = cases(samples.ungradeable())["gradeable"].find("failure")
    assert failure is not None
    assert failure.attrib["message"] == samples.ungradeable().result.reason


def test_long_messages_are_cut_and_no_case_is_lost() -> None:
    missed = {name: samples.miss(Outcome.RAISED, '"' * 9000) for name, *_ in samples.CHECKS}
    card = samples.card("x", "x", samples.checks(missed))
    crowd = tuple(msgspec.structs.replace(card.result, id=str(n)) for n in range(50))
    text = render_junit(msgspec.structs.replace(samples.batch(), submissions=crowd))
    assert len(text.encode()) <= JUNIT
    assert text.count("<testcase") == 50 * len(samples.CHECKS)
