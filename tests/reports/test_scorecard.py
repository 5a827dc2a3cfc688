from __future__ import annotations

import re

import msgspec
import numpy as np
import pytest

from harness.candidate_view import for_candidate
from harness.results import (
    Bug,
    Card,
    CardSource,
    Diagnosis,
    FollowUp,
    KeyPoint,
    Level,
    OwnTests,
    OwnTestsRemark,
    Repair,
    Stage,
    Verdict,
)
from harness.reviews import Choice, Decision, Note
from reports import Context, render_candidate, render_card
from reports.scorecard import CARD, card_page, with_neighbours
from tests.reports import samples


def repaired() -> Card:
    """The softmax over the queries, with the edit that mends it."""
    card = samples.over_queries()
    text = card.sources[0].text.splitlines()
    number = next(n for n, line in enumerate(text, 1) if "axis=-2" in line)
    before, line, after = text[number - 2 : number + 1]
    mended = line.replace("-2", "-1")
    diff = (
        f"--- submission.py\n+++ submission.py\n@@ -{number - 1},3 +{number - 1},3 @@\n"
        f" {before}\n-{line}\n+{mended}\n {after}"
    )
    repair = Repair(description="`-2` becomes `-1`", diff=diff, lines=1, checks=27, runs=3)
    return msgspec.structs.replace(card, repair=repair)


def test_a_card_leads_with_name_sentence_bug_repair_question_picture_checks_and_source() -> None:
    page = render_card(repaired())
    marks = (
        "<h1>grace-hopper</h1>", "</span> Failed</span>", "One line from passing: line 18: Softmax",
        "20 of 27 checks", "1 bug", "22 / 41", '<h2 id="finding">The bug</h2>',
        "<h3>Softmax over the queries", '<h3 id="repair">', "<del>", "Ask next", "broken here",
        '<h2 id="evidence">', '<h2 id="checks">', "20 checks pass", '<h2 id="source">',
        "the repair changes this line", '<h2 id="environment">',
    )  # fmt: skip
    places = [page.index(mark) for mark in marks]
    assert places == sorted(places)


def test_a_repair_is_a_diff_and_its_line_is_marked_in_the_source() -> None:
    page = render_card(repaired())
    assert "<code>-2</code> becomes <code>-1</code>" in page
    (removed,) = re.findall(r"<del>.*?(\d+) −</i>(.*?)\n</del>", page, re.DOTALL)
    assert removed == ("18", "    weights = softmax(scores, axis=-2)")
    assert re.search(r'class="line repaired" id="L18"', page)


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (samples.right(), "Right: every check passes."),
        (samples.over_queries(), "One bug: Softmax over the queries; more fails than"),
        (samples.composite(), "Three bugs, in scale, mask and heads"),
        (samples.nan_row(), "Right as asked; 1 check for good does not hold: "),
        (samples.crashed(), "and no known mistake explains it."),
        (samples.ungradeable(), "no function attention(Q, K, V, mask) was found"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_the_verdict_is_a_sentence(card: Card, said: str) -> None:
    assert said in card_page(card).sentence + "."


def test_a_question_that_two_bugs_ask_is_asked_once() -> None:
    card = samples.over_queries()
    result = msgspec.structs.replace(card.result, diagnosis=card.result.diagnosis * 2)
    page = render_card(msgspec.structs.replace(card, result=result))
    assert page.count("Each column of your weights sums to 1.") == 1


def test_a_map_that_is_wrong_everywhere_gives_way_to_the_picture_that_tells_why() -> None:
    card = samples.composite()
    large = samples.heat(np.zeros((1, 5, 5)), np.ones((1, 5, 5)))
    heads = card.evidence[1]
    both = msgspec.structs.replace(heads, pictures=(large, *heads.pictures))
    (only,) = card_page(msgspec.structs.replace(card, evidence=(both,))).exhibits
    assert len(only.pictures) == 1
    alone = msgspec.structs.replace(heads, pictures=(large,))
    (kept,) = card_page(msgspec.structs.replace(card, evidence=(alone,))).exhibits
    assert len(kept.pictures) == 1


def test_people_stand_beside_the_machines_verdict_and_never_over_it() -> None:
    card = samples.over_queries()
    decided = Decision(submission=card.result.id, reviewer="Ada", time="2026-12-01T10:00:00+01:00",
                       choice=Choice.ADVANCE, verdict=Verdict.PASSED, reason="a <slip>",
                       sha256="other")  # fmt: skip
    note = Note(submission=card.result.id, reviewer="Kurt", time="x", text="Ask about axes.")
    page = render_card(card, Context(decisions=(decided,), notes=(note,)))
    for words in (
        "</span> Failed</span>", "→ Advance", "counts as passed", "a &lt;slip&gt;",
        "Ada, 2026-12-01 09:00 UTC; about an earlier submission", "Ask about axes.", "Kurt",
    ):  # fmt: skip
        assert words in page, words


def test_what_own_tests_find_is_told_as_their_word_and_never_to_the_candidate() -> None:
    found = Bug(id="no-scale", title="no scale", stage=Stage.SCALE)
    missed = Bug(id="argmax", title="the largest takes all", stage=Stage.NORMALISE)
    tests = OwnTests(
        collected=3, passing=2, failing=("test_a.py::<b>",), found=(found,), missed=(missed,),
        known=40, remark=OwnTestsRemark.TOO_SLOW,
    )  # fmt: skip
    card = msgspec.structs.replace(samples.right(), own_tests=tests)
    page = render_card(card)
    for said in (
        "The tests find 1 of 40 known bugs.", "2 of 3 tests pass", "earns no points",
        "not every known bug was tried", "test_a.py::&lt;b&gt;", "the largest takes all",
    ):  # fmt: skip
        assert said in page
    assert "own tests" not in render_candidate(for_candidate(card))


def test_the_neighbours_are_linked_in_place_and_again() -> None:
    page = render_card(samples.right(), Context(index="../index.html"))
    once = with_neighbours(page, "a.html", "b.html")
    assert '<a href="a.html" rel="prev">← Previous</a> <a href="b.html" rel="next">' in once
    assert with_neighbours(with_neighbours(once, "", "c.html"), "a.html", "b.html") == once


def test_a_call_of_a_check_that_passed_is_not_shown_as_failing() -> None:
    card = samples.nan_row()
    other = msgspec.structs.replace(card.evidence[0], check="pe-shape")
    page = card_page(msgspec.structs.replace(card, evidence=(other, *card.evidence)))
    assert [one.check for one in page.exhibits] == ["fully-masked-row"]


def test_levels_stand_in_both_languages() -> None:
    page = render_card(samples.right())
    assert 'Good <span lang="zh-Hans">良好</span>, the highest level of this assignment' in page
    assert 'Pass <span lang="zh-Hans">合格</span>' in page


def test_without_a_diagnosis_the_card_leads_with_what_happened_never_with_a_requirement() -> None:
    first = card_page(samples.nan_row()).first
    assert first is not None
    assert first.id == "fully-masked-row"
    assert f'<p class="lead">{first.message}</p>' in render_card(samples.nan_row())


def test_where_all_failing_checks_say_the_same_the_card_leads_with_that() -> None:
    same = samples.miss(samples.Outcome.FAILED, "it has no parameters", "Not the remedy.")
    for count, leads in ((1, False), (3, True)):
        names = [name for name, *_ in samples.CHECKS][:count]
        page = render_card(samples.card("ada", "", samples.checks(dict.fromkeys(names, same))))
        assert ("What every failing check says" in page) is leads


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
        assert 'class="tally"' not in page


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


def test_the_card_of_a_right_answer_asks_written_questions_with_their_levels() -> None:
    point = KeyPoint(id="8.1", text="the variance is d", level=Level.GOOD)
    asked = FollowUp(question="Why √d?", answer="It grows.", written="8", points=(point,))
    card = samples.right()
    result = msgspec.structs.replace(card.result, next_questions=(asked,))
    page = render_card(msgspec.structs.replace(card, result=result))
    words = ("What to ask", "written question 8", "Why √d?", "the variance is d", ">good<")
    places = [page.index(one) for one in words]
    assert places == sorted(places)
    assert "What happened" not in page


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


def test_a_pair_of_flaws_is_two_bugs_each_with_its_stage() -> None:
    page = render_card(samples.composite())
    assert "The bugs</h2>" in page
    listed = re.findall(r'<li><h3>.+ <span class="tag">(\w+)</span></h3>', page)
    assert listed == ["scale", "mask", "heads"]
    assert "3 bugs</span>" in page


def test_points_are_lost_by_bugs_that_account_for_all_that_fails() -> None:
    card = samples.over_queries()
    (found,) = card.result.diagnosis
    whole = msgspec.structs.replace(found, complete=True)
    result = msgspec.structs.replace(card.result, diagnosis=(whole,))
    explained = msgspec.structs.replace(card, result=result)
    missed = sum(check.points for check in result.checks if check.outcome.is_missed)
    assert f"1 bug: {missed} points lost by it</span>" in render_card(explained)
    assert "points lost" not in render_card(card)
