"""The form of written answers: what stands in which field, whatever else is in the file."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import answer_form
from harness.errors import Refused
from harness.results import KeyPoint, Level, Question

QUESTIONS = (
    Question(id="1", part="Basics", text="Why?", answers={"answer": ""}),
    Question(
        id="2",
        part="Shapes",
        text="Which shapes?",
        answers={"W_Q": "", "time of it": ""},
        points=(KeyPoint(id="2.1", text="both", level=Level.PASS),),
    ),
)


def test_a_blank_form_has_every_field_and_no_answer():
    fields = answer_form.read(answer_form.blank("Title", QUESTIONS))
    assert fields == {"1 answer": "", "2 W_Q": "", "2 time of it": ""}


def test_parts_and_questions_are_in_the_form():
    blank = answer_form.blank("Title", QUESTIONS)
    assert "# Title" in blank
    assert "## Shapes" in blank
    assert "### 2. Which shapes?" in blank


def test_an_answer_may_stand_on_the_line_or_below_it():
    read = answer_form.read("**2 W_Q:** [d, k]\n**1 answer:**\n\none\n\n- two\n")
    assert read == {"2 W_Q": "[d, k]", "1 answer": "one\n\n- two"}


def test_an_answer_ends_at_the_next_heading():
    assert answer_form.read("**1 answer:** yes\n### 2. Which?\n\nnot this")["1 answer"] == "yes"


def test_a_comment_in_fenced_code_ends_no_answer():
    text = "**1 answer:**\nlook:\n```python\n## the scores\nq @ k\n```\nthat is it\n## Next\nno"
    assert answer_form.read(text)["1 answer"].endswith("q @ k\n```\nthat is it")


def test_a_fence_around_an_answer_is_not_part_of_it():
    assert answer_form.read("**1 answer:**\n```\n1 0\n1 1\n```\n")["1 answer"] == "1 0\n1 1"


def test_a_fence_that_is_never_closed_swallows_no_other_field():
    read = answer_form.read("**1 answer:**\n```\n1 0\n**2 W_Q:** [d]\n")
    assert read["2 W_Q"] == "[d]"


def test_bold_words_in_an_answer_are_no_field():
    assert answer_form.read("**1 answer:** a\n**Note:** b\n**2x:** c") == {
        "1 answer": "a\n**Note:** b\n**2x:** c"
    }


@pytest.mark.parametrize("mark", ["**2 W_Q:**", "**2 W_Q**:", "  **2 W_Q:** ", "**02  W_Q:**"])
def test_a_mark_may_be_spelled_in_several_ways(mark):
    assert answer_form.read(f"{mark} [d]")["2 W_Q"] == "[d]"


def test_a_file_without_a_field_is_refused():
    with pytest.raises(Refused, match="no field of the form"):
        answer_form.read("# My essay\n\nAttention is all you need.")


def test_too_many_fields_are_refused():
    text = "\n".join(f"**{n} a:** x" for n in range(answer_form.FIELDS_CAP + 1))
    with pytest.raises(Refused, match="line 501 is field 501, expected 500"):
        answer_form.read(text)


def test_a_long_answer_is_cut_and_says_so():
    read = answer_form.read("**1 answer:** " + "x" * 20_000)
    assert len(read["1 answer"]) == answer_form.ANSWER_CAP
    assert "cut; 20,000 characters" in read["1 answer"]


def test_hidden_characters_are_spelled_out():
    assert answer_form.read("**1 answer:** a\u202eb")["1 answer"] == "a<U+202E>b"


def test_answers_are_put_with_their_questions():
    answers = {"2 W_Q": "[d]", "7 answer": "of another form"}
    first, second = answer_form.answered(QUESTIONS, answers)
    assert first.answers == {"answer": ""}
    assert second.answers == {"W_Q": "[d]", "time of it": ""}
    assert second.points == QUESTIONS[1].points


@given(st.text(max_size=2000))
def test_no_text_breaks_the_reader(text):
    read = answer_form.read(f"**1 answer:** {text}\n**2 W_Q:** [d]")
    assert read["2 W_Q"]


def test_a_number_of_thousands_of_digits_is_no_field():
    with pytest.raises(Refused):
        answer_form.read(f"**{'1' * 5000} W_Q:** x")


@pytest.mark.parametrize("outer", ["````", "~~~", "`````markdown"])
def test_a_fence_inside_a_longer_or_another_fence_closes_nothing(outer):
    closing = outer.removesuffix("markdown")
    text = f"**1 answer:**\nlook:\n{outer}\n```python\n## a\n```\n## b\n{closing}\n## Next\nno"
    assert answer_form.read(text)["1 answer"].endswith(f"## b\n{closing}")


def test_two_blocks_of_code_are_not_one_fence_around_the_answer():
    text = "**1 answer:**\n```\na\n```\nand\n```\nb\n```"
    assert answer_form.read(text)["1 answer"] == "```\na\n```\nand\n```\nb\n```"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```python\na = 1\n```", "a = 1"),
        ("first\n```\na = 1\n```\nthen\n~~~py\nb = 2\n~~~", "a = 1\n\nb = 2"),
        ("```text\nnot this\n```\n```Python\nthis\n```", "this"),
        ('````python\na = """\n```\n"""\n````', 'a = """\n```\n"""'),
        ("```python\n## comment\nb", "## comment\nb"),
        ("def f(): unfenced", ""),
    ],
)
def test_code_is_what_stands_in_fences_of_python(answer, code):
    text = f"**43 answer:**\n{answer}\n"
    assert answer_form.fenced_code(text, "43 answer") == code
    assert answer_form.fenced_code(text, "44 answer") == ""


def test_marks_that_were_added_doubled_or_taken_away_are_told_with_their_lines():
    text = "**1 answer:** a\n\n**1 answer:** b\n**7 why:** c\n"
    assert answer_form.read(text)["1 answer"] == "a\n\nb"
    assert answer_form.remarks(text, QUESTIONS) == (
        "line 1: “1 answer” comes again in line 3; read together",
        "line 4: nothing asks for “7 why”; not read",
        "2 of 3 marks of the form are gone: 2 W_Q, 2 time of it",
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "不知道", "我不知道。", "不会", "忘了", "略"),
        *(
            "I do not know.",
            "I don’t know",
            "IDK",
            "n/a",
            "—",
            "???",
            "no idea!",
            "Sorry, I do not know this one",
        ),
    ],
)
def test_who_says_that_there_is_no_answer_has_not_answered(text):
    question = msgspec.structs.replace(QUESTIONS[0], answers={"answer": text})
    assert not answer_form.is_answered(question)
    assert answer_form.awaits([question]).startswith("answered 0 of 1;")


@pytest.mark.parametrize(
    "text",
    ["0", "[B, T]", "T_k", "不会改变", "none of the keys", "我不知道为什么，但 ✓", "✓ ✗\n✓ ✓", "√"],
)
def test_a_short_answer_is_an_answer(text):
    question = msgspec.structs.replace(QUESTIONS[1], answers={"W_Q": text, "time of it": "不知道"})
    assert answer_form.is_answered(question)


def test_a_form_as_it_was_written_has_no_remark():
    assert answer_form.remarks(answer_form.blank("Title", QUESTIONS), QUESTIONS) == ()


def test_a_question_in_chinese_stands_below_the_english_one():
    question = Question(id="1", part="Basics", part_zh="基础", text="Why?", text_zh="为什么？")
    blank = answer_form.blank("Title", [question])
    assert "## Basics · 基础" in blank
    assert "### 1. Why?\n\n为什么？" in blank
