"""review.toml: marks as a file that an interviewer edits."""

import msgspec
import pytest

from harness.commands import review
from harness.errors import UsageError
from harness.marking import Marking
from tests.marking.samples import card


def edited(path, before, after):
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))


def test_the_file_that_is_prepared_marks_nothing(tmp_path):
    assert review.prepare([card()], tmp_path) == tmp_path / "review.toml"
    assert review.read(tmp_path) == {"ann": Marking()}


def test_a_blank_answer_has_nothing_to_mark(tmp_path):
    blank = msgspec.structs.replace(card().questions[0], answers={"answer": " "})
    path = review.prepare([msgspec.structs.replace(card(), questions=(blank,))], tmp_path)
    assert "not answered" in path.read_text()
    assert "1.1" not in path.read_text()
    assert review.read(tmp_path) == {"ann": Marking()}


@pytest.mark.parametrize(
    ("written", "mark"), [("true", 1), ("1", 1), ("0.5", 0.5), ("0", 0), ("1.0", 1)]
)
def test_a_point_is_marked_by_writing_a_mark_for_false(tmp_path, written, mark):
    path = review.prepare([card()], tmp_path)
    edited(path, '"1.2" = false', f'"1.2" = {written}')
    assert review.read(tmp_path)["ann"].values == {"1.2": mark}


def test_in_a_form_that_was_read_false_is_a_mark_of_0(tmp_path):
    path = review.prepare([card()], tmp_path)
    edited(path, '"1.2" = false', '"1.2" = 0.5')
    edited(path, "reviewed = false", "reviewed = true")
    edited(path, 'reviewer = ""', 'reviewer = "bo"')
    marking = review.read(tmp_path)["ann"]
    assert marking.values == {"1.1": 0, "1.2": 0.5, "1.3": 0, "1.4": 0}
    assert marking.reviewed
    assert marking.reviewers == ("bo",)


def test_a_question_may_have_a_note(tmp_path):
    path = review.prepare([card()], tmp_path)
    edited(path, '"1.1" = false', '"1.1" = false\n"1 note" = "vague"')
    assert review.read(tmp_path)["ann"].notes == {"1": "vague"}


def test_preparing_again_keeps_marks_and_adds_who_is_missing(tmp_path):
    path = review.prepare([card()], tmp_path)
    edited(path, '"1.2" = false', '"1.2" = true')
    review.prepare([card(), card('jörg "x" \\ y')], tmp_path)
    assert review.read(tmp_path) == {
        "ann": Marking(values={"1.2": 1}),
        'jörg "x" \\ y': Marking(),
    }


def test_code_has_nothing_to_mark(tmp_path):
    assert review.prepare([msgspec.structs.replace(card(), questions=())], tmp_path) is None
    assert not (tmp_path / "review.toml").exists()


def test_without_a_file_nothing_is_marked(tmp_path):
    assert review.read(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[ann\n", "cannot be read"),
        ("ann = 3", "expected a table"),
        ("[ann]\n'1.1' = 'yes'", r"expected true, false or 0\.5"),
        ("[ann]\n'1.1' = 0.7", r"expected true, false or 0\.5"),
        ("[ann]\nreviewed = 'yes'", "expected true"),
        ("[ann]\n'1.1' = true\n'1.1' = false", "cannot be read"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_broken_file_is_named_and_what_is_wrong(tmp_path, text, said):
    (tmp_path / "review.toml").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError, match=said) as caught:
        review.read(tmp_path)
    assert "review.toml" in str(caught.value)
