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
from specs.criteria.mistaken_programs import MISTAKES, draw_program
from specs.written_answers import RIGHT, draw_form, read_form, right_answers

SPEC = specs.load("written_answers")
SEEDS = [f"seed{number}" for number in range(10)]


def checked(spec, answers):
    answer = {"answer": lambda name: answer_form.to_bytes(answers.get(name, ""))}
    return run_checks(spec, DirectSession(answer, arrays="numpy"), "seed")[0]


def test_the_questions_that_are_named_are_asked_in_the_order_of_the_form():
    spec = draw_form(["36", "8", "25"], "ab12")
    assert [question.id for question in spec.questions] == ["8", "25", "36"]
    fields = {"8 answer", "25 answer", "36 mistake", "36 answer"}
    assert set(answer_form.read(spec.starter)) == fields
    assert [check.id for check in spec.checks] == ["c36-mistake"]


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
    right = {name: part() for name, part in spec.reference.items()}
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
    ids = ["c09-softmax-dimension", "c15-multi-head-shapes", "c48-mistake"]
    assert [check.id for check in spec.checks] == ids
    assert spec.possible == 7
    assert verdict(checked(spec, right_answers(drawn_numbers("ab12")))) == "passed"


def test_a_form_without_a_draw_number_asks_everything():
    assert Form.read(SPEC.starter) is None
    assert len(read_form(SPEC.starter).questions) == 66


@pytest.mark.parametrize(
    "altered",
    ["Form: 8,25/ab12/{check}", "Form: 8,25,36c/ab13/{check}", "Form: 8,25,36/ab12/{check}",
     "Form: 8,25,36c/ab12/00000000", "Form: 8,25,36c", "Form: nonsense"],
)  # fmt: skip
def test_an_altered_draw_number_is_refused_with_its_line(altered):
    form = Form(("8", "25", "36"), "ab12", frozenset({"36"}))
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


def seeds_of(question):
    """Return for each mistake that a question may show a seed that shows it."""
    drawn = {draw_program(question, f"s{number}").flaw: f"s{number}" for number in range(40)}
    assert drawn.keys() == {mistake.flaw for mistake in MISTAKES[question]}
    return drawn


SHOWN = [
    (question, flaw, seed) for question in MISTAKES for flaw, seed in seeds_of(question).items()
]
#: How people say it, by the mistake.
NAMED = {
    "split-by-reshape": [
        "split_heads reshapes without the transpose",
        "拆头时没有转置",
    ],
    "merge-by-reshape": ["no transpose before the reshape in merge_heads", "合并前漏了转置"],
    "keys-reshaped": ["K is reshaped instead of transposed", "K 应该转置最后两维，而不是 reshape"],
    "nan-row": [
        "a row that is fully masked: -inf everywhere",
        "整行都被屏蔽时得 NaN",
    ],
    "no-maximum": ["exp overflows, the maximum is not subtracted", "没有减最大值，exp 溢出"],
    "no-scale": ["the scores are not divided by sqrt(d_k)", "缺少缩放", "no scaling"],
    "multiplied-by-root-d": ["multiplied by the root instead of divided", "乘了根号 d_k，应该除"],
}


def outcome(question, seed, said):
    spec = draw_form([question], seed)
    (check,) = (c for c in checked(spec, {f"{question} mistake": said}) if "mistake" in c.id)
    return check.outcome


@pytest.mark.parametrize(("question", "flaw", "seed"), SHOWN, ids=[flaw for _, flaw, _ in SHOWN])
def test_a_mistake_in_a_program_is_found_by_its_line_or_its_name(question, flaw, seed):
    line = min(draw_program(question, seed).lines)
    for said in (
        f"line {line}",
        str(line),
        f"第 {line} 行",
        f"Lines {line}-{line + 1}",
        *NAMED[flaw],
    ):
        assert outcome(question, seed, said) is Outcome.PASSED, said
    for said in ("line 99", "第 13 行", "", "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"):
        assert outcome(question, seed, said) is Outcome.FAILED, said
    for said in ("something with shapes", "形状不对", "it is all right"):
        assert outcome(question, seed, said) is Outcome.NOT_APPLICABLE, said


def test_what_names_another_mistake_or_a_line_beside_is_left_to_a_person():
    seed = {flaw: seed for _, flaw, seed in SHOWN}["no-maximum"]
    assert outcome("48", seed, "a fully masked row gives -inf") is Outcome.NOT_APPLICABLE
    assert outcome("48", seed, "line 8") is Outcome.NOT_APPLICABLE


def test_a_form_that_was_drawn_without_programs_is_read_as_it_was():
    before = Form(("36", "48"), "ab12")
    spec = read_form(f"{before.line}\n**36 answer:** reshape")
    assert [list(question.answers) for question in spec.questions] == [["answer"], ["answer"]]
    assert spec.checks == ()
    shown = draw_form(["36", "48"], "ab12")
    assert "Form: 36c,48c/ab12/" in shown.starter
    assert read_form(shown.starter).questions == shown.questions


def test_a_program_stands_in_the_form_with_its_lines_numbered_and_is_no_answer():
    spec = draw_form(["50"], "ab12")
    assert " 1  def scaled_dot_product_attention(" in spec.starter
    assert answer_form.read(spec.starter) == {"50 mistake": "", "50 answer": ""}
    assert "The mistake: " in spec.questions[0].model_answer
    assert "The mistake: " not in spec.starter
    assert answer_form.remarks(spec.starter, spec.questions) == ()
