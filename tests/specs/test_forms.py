"""Forms that are drawn: their questions, their numbers, and what an altered one is told."""

import re
from collections import Counter

import pytest

import specs
from harness import answer_form
from harness.candidate.checks import level_reached, run_checks, verdict
from harness.candidate.session import DirectSession
from harness.errors import Refused, UsageError
from harness.results import Level, Outcome
from specs.briefs.forms import Form, choose, drawn_numbers, level_of
from specs.written_answers import RIGHT, draw_form, read_form, right_answers

SPEC = specs.load("written_answers")
SEEDS = [f"seed{number}" for number in range(10)]


def checked(spec, answers):
    answer = {"answer": lambda name: answer_form.to_bytes(answers.get(name, ""))}
    return run_checks(spec, DirectSession(answer, arrays="numpy"), "seed")[0]


def test_the_questions_that_are_named_are_asked_in_the_order_of_the_form():
    spec = draw_form(["36", "8", "25"], "ab12")
    assert [question.id for question in spec.questions] == ["8", "25", "36"]
    assert set(answer_form.read(spec.starter)) == {"8 answer", "25 answer", "36 answer"}
    assert spec.checks == ()


@pytest.mark.parametrize("count", [1, 6, 10, 40, 66])
def test_as_many_questions_are_drawn_as_are_wanted_and_each_level_by_its_share(count):
    everything = Counter(level_of(question) for question in SPEC.questions)
    for seed in SEEDS[:5]:
        form = choose(SPEC.questions, count, seed)
        assert len(form.questions) == count
        drawn = Counter(level_of(q) for q in SPEC.questions if q.id in form.questions)
        for level, number in everything.items():
            assert abs(drawn[level] - count * number / 66) <= 1.5
    assert len({choose(SPEC.questions, 10, seed).questions for seed in SEEDS}) > 7


@pytest.mark.parametrize("seed", SEEDS)
def test_right_answers_to_drawn_numbers_are_right_and_those_to_other_numbers_are_not(seed):
    spec = draw_form(66, seed)
    right = right_answers(drawn_numbers(seed))
    checks = checked(spec, right)
    assert {check.outcome for check in checks} == {Outcome.PASSED}
    assert level_reached(checks) is Level.EXCELLENT
    copied = {check.id for check in checked(spec, RIGHT) if check.outcome is Outcome.FAILED}
    assert {"c15-multi-head-shapes", "c38-doubling"} <= copied


def test_numbers_differ_from_form_to_form_and_stand_in_the_questions():
    forms = [draw_form(["15", "18"], seed).starter for seed in SEEDS]
    assert len(set(forms)) == len(SEEDS)
    assert not re.search(r"<[A-Za-z_]+>", "".join(forms))


def test_lengths_that_a_wrong_order_would_swap_all_differ():
    for seed in SEEDS:
        numbers = drawn_numbers(seed)
        lengths = [numbers[name] for name in ("B", "T", "h", "d_head", "d_model")]
        assert len(set(lengths)) == 5


def test_a_form_is_read_as_it_was_drawn_and_judged_by_what_it_asks():
    drawn = draw_form(["9", "15", "48"], "ab12")
    spec = read_form(drawn.starter)
    assert [question.id for question in spec.questions] == ["9", "15", "48"]
    assert [check.id for check in spec.checks] == ["c09-softmax-dimension", "c15-multi-head-shapes"]
    assert spec.possible == 5
    assert verdict(checked(spec, right_answers(drawn_numbers("ab12")))) == "passed"


def test_a_form_without_a_draw_number_asks_everything():
    assert Form.read(SPEC.starter) is None
    assert len(read_form(SPEC.starter).questions) == 66


@pytest.mark.parametrize(
    "altered",
    ["Form: 8,25/ab12/{check}", "Form: 8,25,36/ab13/{check}", "Form: 8,25,36/ab12/00000000",
     "Form: 8,25,36", "Form: nonsense"],
)  # fmt: skip
def test_an_altered_draw_number_is_refused_with_its_line(altered):
    form = Form(("8", "25", "36"), "ab12")
    text = draw_form(["8", "25", "36"], "ab12").starter
    changed = text.replace(form.line, altered.format(check=form.number.rpartition("/")[2]))
    assert changed != text
    with pytest.raises(Refused, match=r"line \d+: the draw number"):
        read_form(changed)


def test_two_draw_numbers_are_refused():
    lines = (Form(("8",), "ab12").line, Form(("9",), "ab12").line)
    with pytest.raises(Refused, match="draw number"):
        Form.read("\n".join(lines))


@pytest.mark.parametrize(
    ("wanted", "seed"), [(["67"], "a"), (["x"], "a"), (0, "a"), (67, "a"), (5, "a/b"), (5, "")]
)
def test_what_cannot_be_drawn_is_named(wanted, seed):
    with pytest.raises(UsageError, match="expected"):
        draw_form(wanted, seed)
