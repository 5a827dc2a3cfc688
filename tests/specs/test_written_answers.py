"""Written answers: read in any notation, from the form to the card."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specs
from harness import answer_form
from harness.candidate.checks import run_checks, verdict
from harness.candidate.session import DirectSession
from harness.errors import Refused
from harness.results import Level
from harness.spec.draw import Draw
from specs.written_answers import RIGHT

SPEC = specs.load("written_answers")
SAMPLES = Path(__file__).parents[2] / "sample_submissions" / "written_answers"


def checked(answers):
    answer = {"answer": lambda name: answer_form.to_bytes(answers.get(name, ""))}
    session = DirectSession(answer, arrays="numpy")
    return run_checks(SPEC, session, "seed")[0]


def failed(field, text):
    answers = {**RIGHT, field: text}
    assert field in RIGHT
    return {check.id: check.message for check in checked(answers) if check.outcome != "passed"}


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("right_*.md")), ids=lambda path: path.stem)
def test_right_answers_are_right_in_every_notation(path):
    checks = checked(answer_form.read(path.read_text(encoding="utf-8")))
    assert not [(check.id, check.message) for check in checks if check.outcome != "passed"]


def test_a_blank_form_earns_nothing():
    checks = checked(answer_form.read(SPEC.starter))
    assert sum(check.earned for check in checks) == 0
    assert verdict(checks) == "failed"
    assert all(check.message.endswith("is not answered") for check in checks)


@pytest.mark.parametrize("text", ["T", "1", "4", "[B, T, d]", "O(T^2)", "yes", "?", "0 " * 16])
def test_one_answer_everywhere_never_passes(text):
    checks = checked(dict.fromkeys(RIGHT, text))
    assert {check.outcome for check in checks if check.level is Level.PASS} != {"passed"}
    assert sum(check.earned for check in checks) <= 2


@pytest.mark.parametrize("text", ["yes", "see above", "详见上文"])
def test_what_no_reader_understands_is_left_to_a_person_and_not_failed(text):
    checks = checked(dict.fromkeys(RIGHT, text))
    assert {check.outcome for check in checks} == {"not_applicable"}
    questions = answer_form.left_to_reviewer(SPEC.questions, checks)
    added = [question for question in questions if question.points[0].id == f"{question.id}.0"]
    assert [question.id for question in added] == [
        str(number) for number in (9, 13, 14, 15, 16, 17, 18, 22, 24, 37, 38, 40)
    ]
    assert sum(question.points[0].points for question in added) == SPEC.possible
    assert "was read as nothing" in added[0].points[0].text


def test_no_message_title_or_hint_gives_the_answer_away():
    wrong = dict.fromkeys(RIGHT, "nonsense")
    blank = dict.fromkeys(RIGHT, "")
    for check in (*checked(wrong), *checked(blank)):
        said = f"{check.title} {check.message} {check.hint}"
        for field, right in RIGHT.items():
            if check.id.startswith(f"c{int(field.split()[0]):02}") and len(right) > 2:
                assert right not in said, f"{check.id} says {right}"


def test_what_cannot_be_read_says_how_to_write_it():
    assert "write it like" in failed("13 W_Q", "?")["c13-projection-shapes"]
    assert "one row per line" in failed("17 causal", "a triangle")["c17-masks-of-four"]
    assert "three numbers" in failed("18 weights", "big, small")["c18-softmax-of-three"]


def test_a_wrong_answer_is_told_as_it_was_read():
    assert failed("13 W_Q", "(dk, dmodel)") == {
        "c13-projection-shapes": "W_Q has another shape than [dk, dmodel]"
    }
    assert failed("9 dimension", "-2") == {
        "c09-softmax-dimension": "the softmax does not normalise over the queries"
    }


def test_every_level_has_key_points_and_every_key_point_an_id_of_its_own():
    points = [point for question in SPEC.questions for point in question.points]
    assert {point.level for point in points} == {Level.PASS, Level.GOOD, Level.EXCELLENT}
    assert len({point.id for point in points}) == len(points)
    assert all(point.id.partition(".")[0] == question.id
               for question in SPEC.questions for point in question.points)  # fmt: skip


def test_every_question_is_asked_and_marked_in_english_and_in_chinese():
    chinese = re.compile(r"[\u4e00-\u9fff]")
    for question in SPEC.questions:
        texts = [(question.text, question.text_zh), (question.part, question.part_zh)]
        texts += [(each.text, each.text_zh) for each in (*question.points, *question.red_flags)]
        if question.points:
            texts.append((question.model_answer, question.model_answer_zh))
        for english, translated in texts:
            assert english
            assert not chinese.search(english), english
            assert chinese.search(translated) or "softmax(" in translated, english


def test_red_flags_name_the_classic_mistakes():
    flags = " ".join(flag.text for question in SPEC.questions for flag in question.red_flags)
    for mistake in ("more is better", "multiply by 0 after the softmax", "divides by d_k"):
        assert mistake in flags


def test_the_seed_of_a_run_draws_nothing():
    assert SPEC.fixtures(Draw("one", "any")) == SPEC.fixtures(Draw("two", "any"))


JUNK = st.sampled_from(
    ["<script>alert(1)</script>", "$$\\frac{Q K^\\top}{\\sqrt{d_k}}$$", "\x00\x07\x1b[31m",
     "\u202e", "````\n```", "**13 W_Q:**", "**99 answer:** x", "**0 :**", "**13 W_Q**: [B]", "## 3",
     "", "| a | b |", "1 0 0 0", "[[[[", "O(T^", "\u2028", "\ud800"]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "double", "number"]), st.integers(0, 10**6), JUNK),
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(EDITS)
def test_a_form_is_read_or_refused_whatever_was_done_to_it(edits):
    lines = SAMPLES.joinpath("right_with_prose.md").read_text(encoding="utf-8").split("\n")
    for kind, number, junk in edits:
        place = number % max(len(lines), 1)
        if kind == "add":
            lines.insert(place, junk)
        elif kind == "remove":
            del lines[place : place + number % 5]
        elif kind == "double":
            lines[place:place] = lines[place : place + 3]
        else:
            lines[place:place] = [f"**{number} W_Q:** [d_model, d_k]"]
    text = "\n".join(lines)
    try:
        answers = answer_form.read(text)
    except Refused:
        return
    answer_form.remarks(text, SPEC.questions)
    checks = checked(answers)
    assert not [check.message for check in checks if check.outcome == "invalid"]
