from __future__ import annotations

import re

import msgspec
import pytest

from harness.results import Card, CardSource, Diagnosis, FollowUp, Stage
from reports import render_card
from reports.scorecard import CARD, card_page
from tests.reports import samples


def test_a_card_leads_with_name_verdict_level_score_stage_bug_and_question() -> None:
    page = render_card(samples.over_queries())
    marks = (
        "<h1>grace-hopper</h1>", "<strong>Failed</strong>", "Below pass", "22</span>",
        "broken here", "<h2>Softmax over the queries</h2>", "Ask next", "<h2 id=\"evidence\">",
        "<h2 id=\"checks\">", "<h2 id=\"source\">", "<h2 id=\"environment\">",
    )  # fmt: skip
    places = [page.index(mark) for mark in marks]
    assert places == sorted(places)


def test_a_call_of_a_check_that_passed_is_not_shown_as_failing() -> None:
    card = samples.nan_row()
    other = msgspec.structs.replace(card.evidence[0], check="pe-shape")
    page = card_page(msgspec.structs.replace(card, evidence=(other, *card.evidence)))
    assert [one.check for one in page.exhibits] == ["fully-masked-row"]


def test_levels_stand_in_both_languages() -> None:
    page = render_card(samples.right())
    assert 'Good <span lang="zh-Hans">良好</span>' in page
    assert 'Pass <span lang="zh-Hans">合格</span>' in page


def test_without_a_diagnosis_the_card_leads_with_the_first_check_that_does_not_hold() -> None:
    first = card_page(samples.nan_row()).first
    assert first is not None
    assert first.id == "fully-masked-row"
    assert f"<h2>{first.title}</h2>" in render_card(samples.nan_row())


def test_where_all_failing_checks_say_the_same_the_card_leads_with_that() -> None:
    same = samples.miss(samples.Outcome.FAILED, "it has no parameters", "Not the remedy.")
    for count, leads in ((1, False), (3, True)):
        names = [name for name, *_ in samples.CHECKS][:count]
        page = render_card(samples.card("ada", "", samples.checks(dict.fromkeys(names, same))))
        assert ('<h2 class="plain">it has no parameters</h2>' in page) is leads


def test_every_check_is_on_the_card_once() -> None:
    for card in (samples.right(), samples.over_queries(), samples.crashed()):
        ids = re.findall(r'id="check-([a-z-]+)"', render_card(card))
        assert sorted(ids) == sorted(check.id for check in card.result.checks)


def test_an_error_links_to_its_line_and_the_line_names_the_check() -> None:
    page = render_card(samples.crashed())
    assert 'href="#L15"' in page
    assert re.search(
        r'class="line hit" id="L15".*?raised here: The output has shape', page, re.DOTALL
    )


def test_an_error_in_a_line_that_is_not_there_is_not_a_link() -> None:
    checks = samples.checks({"scale": samples.miss(samples.Outcome.RAISED, "x", line=9999)})
    page = render_card(samples.card("x", "x = 1\n", checks))
    assert "#L9999" not in page
    assert "line 9999" in page


def test_what_was_not_graded_shows_the_reason_and_no_score() -> None:
    for card in (samples.ungradeable(), samples.invalid()):
        page = render_card(card)
        assert card.result.reason in page
        assert 'class="score"' not in page


def test_a_card_from_a_plain_process_says_that_it_was_not_isolated() -> None:
    process = msgspec.structs.replace(samples.ENVIRONMENT, sandbox="process", isolated=False)
    card = msgspec.structs.replace(samples.right(), environment=process)
    assert "Not isolated." in render_card(card)
    assert "Not isolated." not in render_card(samples.right())


def test_every_flaw_of_a_class_is_named() -> None:
    flaw = Diagnosis(
        flaw="scale-d",
        title="Divided by d",
        stage=Stage.SCALE,
        confidence="",
        alternatives=("Scaled twice",),
    )
    card = samples.over_queries()
    result = msgspec.structs.replace(card.result, diagnosis=(flaw,))
    assert "Scaled twice" in render_card(msgspec.structs.replace(card, result=result))


def test_the_questions_of_a_pair_follow_each_other_each_with_its_answer() -> None:
    card = samples.over_queries()
    (bug,) = card.result.diagnosis
    (first,) = bug.questions
    both = msgspec.structs.replace(bug, questions=(first, FollowUp(question="Why?", answer="So.")))
    result = msgspec.structs.replace(card.result, diagnosis=(both,))
    html = render_card(msgspec.structs.replace(card, result=result))
    places = [html.index(words) for words in ("Ask next", first.answer, "And then", "Why?")]
    assert places == sorted(places)
    assert "<summary>What a good answer contains</summary><p>So.</p>" in html
    assert "And then" not in render_card(card)


def test_a_card_is_the_same_each_time_it_is_rendered() -> None:
    assert render_card(samples.over_queries()) == render_card(samples.over_queries())


def bloated(times: int) -> Card:
    """A card that a submission has filled with as much as it can, in characters that grow."""
    payload = '"<&' * times
    card = samples.hostile(payload)
    checks = tuple(
        msgspec.structs.replace(check, id=f"{check.id}-{number}", message=payload, hint=payload)
        for number in range(1000)
        for check in card.result.checks[2:4]
    )
    result = msgspec.structs.replace(
        card.result,
        checks=checks,
        diagnosis=card.result.diagnosis * 100,
        notes=(payload,) * 1000,
        conventions={f"{number}{payload}": payload for number in range(1000)},
    )
    files = tuple(
        CardSource(name=f"{number}{payload}", text=payload * 30, html=payload * 30)
        for number in range(20)
    )
    return msgspec.structs.replace(card, result=result, sources=files, evidence=card.evidence * 50)


@pytest.mark.parametrize("times", [1, 100, 5000])
def test_no_submission_can_make_a_card_larger_than_300_kb(times: int) -> None:
    assert len(render_card(bloated(times)).encode()) <= CARD


def test_a_card_that_leaves_checks_out_says_how_many() -> None:
    assert re.search(r"[\d,]+ more checks: see results.json", render_card(bloated(1)))


def test_without_a_diagnosis_the_first_failing_check_asks_its_question() -> None:
    page = render_card(samples.nan_row())
    assert "What comes out of a softmax over nothing?" in page
    assert "What a good answer contains" in page


def test_a_diagnosis_asks_its_own_question_and_no_check_asks_another() -> None:
    card = samples.over_queries()
    asked = [msgspec.structs.replace(c, question="Another?") for c in card.result.checks]
    result = msgspec.structs.replace(card.result, checks=tuple(asked))
    assert "Another?" not in render_card(msgspec.structs.replace(card, result=result))


def test_an_error_in_a_second_file_links_there() -> None:
    card = samples.crashed()
    raised = [
        msgspec.structs.replace(c, file="b.py", line=2) if c.line else c for c in card.result.checks
    ]
    two = msgspec.structs.replace(
        card,
        result=msgspec.structs.replace(card.result, checks=tuple(raised)),
        sources=(samples.source("x = 1\ny = 2\n", "a.py"), samples.source("\nraise\n", "b.py")),
    )
    page = render_card(two)
    assert '<a class="line" href="#f2-L2">line 2</a>' in page
    assert '<span class="line hit" id="f2-L2">' in page


def test_a_pair_of_flaws_names_both_stages() -> None:
    assert "The bugs, in scale and mask<" in render_card(samples.composite())


def test_three_stages_are_listed() -> None:
    card = samples.composite()
    both, other = card.result.diagnosis
    three = msgspec.structs.replace(both, stages=(Stage.SCALE, Stage.MASK, Stage.NORMALISE))
    result = msgspec.structs.replace(card.result, diagnosis=(three, other))
    page = render_card(msgspec.structs.replace(card, result=result))
    assert "The bugs, in scale, mask and normalise<" in page
    assert "The bug, in heads<" in page


def test_two_flaws_of_one_stage_are_two_bugs() -> None:
    card = samples.composite()
    both = msgspec.structs.replace(card.result.diagnosis[0], stages=(Stage.MASK,))
    result = msgspec.structs.replace(card.result, diagnosis=(both,))
    page = render_card(msgspec.structs.replace(card, result=result))
    assert "The bugs, in mask<" in page
