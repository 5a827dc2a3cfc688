"""A right answer is asked further: the documents' own next questions, with their levels."""

import pytest

import specs
from specs.briefs.questionnaire import questions

CODE = [spec for name in specs.TITLES if not (spec := specs.load(name)).is_written]

each_spec = pytest.mark.parametrize("spec", CODE, ids=lambda spec: spec.name)


@each_spec
def test_every_assignment_leads_on_to_written_questions(spec):
    written = {question.id: question for question in questions()}
    assert len(spec.next_questions) >= 2
    for asked in spec.next_questions:
        question = written[asked.written]
        assert (asked.question, asked.answer) == (question.text, question.model_answer)
        assert asked.points == question.points


@each_spec
def test_a_question_says_what_a_good_answer_contains_and_at_which_level(spec):
    assert all(asked.answer and asked.points for asked in spec.next_questions)
