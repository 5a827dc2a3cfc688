"""The 66 questions of the third source document as a form.

Fields of twelve are checked by machine; what is answered in prose has key points, which a person
marks. The reference and the flaws are answers to fields: a part is named after its field, and says one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from harness import EntryPoint, Forms, Level, Question, Spec, answer_form
from specs.briefs import brief
from specs.briefs.forms import Form, choose
from specs.briefs.questionnaire import STANDARD, questions
from specs.criteria import written
from specs.criteria.mistaken_programs import (
    FIELD,
    ShownProgram,
    c36_mistake,
    c48_mistake,
    c50_mistake,
    draw_program,
)
from specs.criteria.written import softmax_of
from specs.flaws.written import FLAWS, rows, said

TITLE = "Written answers on self-attention"


def right_answers(numbers: Mapping[str, str]) -> Mapping[str, str]:
    """Return what stands in each field of a right form with these numbers."""
    batch, length, width, heads, of_head = (
        numbers[name] for name in ("B", "T", "d_model", "h", "d_head")
    )
    short, long = int(numbers["short"]), int(numbers["long"])
    inside = f"[{batch}, {heads}, {length}, "
    weights = softmax_of(numbers["scores"])
    return {
        "9 dimension": "T_k",
        **dict.fromkeys(("13 W_Q", "13 W_K"), "[d_model, d_k]"),
        "13 W_V": "[d_model, d_v]",
        **dict.fromkeys(("13 Q", "13 K"), "[B, T, d_k]"),
        "13 V": "[B, T, d_v]",
        **dict.fromkeys(("14 QK^T", "14 weights"), "[B, T_q, T_k]"),
        "14 output": "[B, T_q, d_v]",
        **dict.fromkeys(
            ("15 X", "15 projected", "15 concatenated", "15 output"),
            f"[{batch}, {length}, {width}]",
        ),
        "15 split": f"[{batch}, {length}, {heads}, {of_head}]",
        **dict.fromkeys(("15 transposed", "15 head outputs"), f"{inside}{of_head}]"),
        **dict.fromkeys(("15 scores", "15 weights"), f"{inside}{length}]"),
        "16 shape": "[T, T]",
        "16 row i": "query i",
        "16 column j": "key j",
        "17 without a mask": rows(short, lambda i, j: True),
        "17 causal": rows(short, lambda i, j: j <= i),
        "18 weights": ", ".join(f"{weight:.2f}" for weight in weights),
        "22 padding mask": "[B, 1, 1, T_k]",
        "22 causal mask": "[1, 1, T_q, T_k]",
        "24 causal": rows(long, lambda i, j: j <= i),
        "37 time of the attention": "O(T² · d_model)",
        "37 time of the projections": "O(T · d_model²)",
        "37 memory of the weights": "O(T²)",
        **dict.fromkeys(("38 work", "38 memory"), str(int(numbers["growth"]) ** 2)),
        "40 scores": str(int(numbers["context"]) ** 2),
        "40 KV cache": "linearly",
    }


RIGHT = right_answers(STANDARD)


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return what a form with these answers says."""

    def answer(question: str) -> Any:
        return answer_form.to_bytes(str(parts[question]()) if question in parts else "")

    return {"answer": answer}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Expect nothing in numbers: answers are read by their criteria alone."""
    return {"answer": lambda question: ()}


PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

CHECKS = (
    written.c09_softmax_dimension.at(PASS, points=2),
    written.c18_softmax_of_three.at(PASS, points=2),
    written.c37_growth.at(PASS, points=3),
    written.c38_doubling.at(PASS, points=2),
    written.c13_projection_shapes.at(GOOD, points=3),
    written.c14_attention_shapes.at(GOOD, points=2),
    written.c15_multi_head_shapes.at(GOOD, points=3),
    written.c16_weight_matrix.at(GOOD, points=2),
    written.c17_masks_of_four.at(GOOD, points=2),
    written.c22_mask_shapes.at(GOOD, points=2),
    written.c24_causal_mask_of_five.at(GOOD, points=2),
    written.c40_long_context.at(EXCELLENT, points=2),
)
#: Of questions that show a program: in forms that are drawn.
PROGRAM_CHECKS = (
    c36_mistake.at(GOOD, points=2),
    c48_mistake.at(EXCELLENT, points=2),
    c50_mistake.at(EXCELLENT, points=2),
)
#: Questions whose right answers depend on the numbers of a form.
_NUMBERED = ("15", "17", "18", "24", "38", "40")


def make_spec(form: Form | None = None) -> Spec:
    """Return the assignment that a form asks; the standard one is all of it."""
    numbers = form.numbers if form else STANDARD
    shown = (
        {number: draw_program(number, form.seed) for number in form.with_program} if form else {}
    )
    asked = [
        _with_program(question, shown)
        for question in questions(numbers)
        if form is None or question.id in form.questions
    ]
    known = {question.id for question in asked}
    right = {**right_answers(numbers), **right_lines(shown)}
    same_flaws = known if numbers is STANDARD else known - set(_NUMBERED)
    return Spec(
        name="written_answers",
        title=TITLE,
        brief=brief("written_answers"),
        starter=answer_form.blank(TITLE, asked, form.line if form else ""),
        arrays="numpy",
        image="text",
        entry_points=(
            EntryPoint(role="answer", name="answer", parameters=("question",), returns=("text",)),
        ),
        checks=tuple(
            check
            for check in (*CHECKS, *PROGRAM_CHECKS)
            if answer_form.question_of(check.id) in (known if check in CHECKS else shown)
        ),
        reference=MappingProxyType(
            {name: said(text) for name, text in right.items() if name.split()[0] in known}
        ),
        flaws=tuple(
            flaw
            for flaw in FLAWS
            if all(answer_form.question_of(check) in same_flaws for check in flaw.caught_by)
        ),
        assemble=assemble,
        expect=expect,
        fixtures=lambda draw: {"numbers": numbers, "shown": shown},
        questions=tuple(asked),
        forms=Forms(draw=draw_form, read=read_form),
        code_fields={"43 answer": "torch_sdpa"} if "43" in known else {},
    )


def right_lines(shown: Mapping[str, ShownProgram]) -> Mapping[str, str]:
    """Return what stands in the fields about programs of a right form."""
    return {f"{number} {FIELD}": f"line {min(program.lines)}" for number, program in shown.items()}


def _with_program(question: Question, shown: Mapping[str, ShownProgram]) -> Question:
    """Return a question with the program that its form shows; its model answer says where."""
    if question.id not in shown:
        return question
    program = shown[question.id]
    lines = ", ".join(map(str, sorted(program.lines)))
    return msgspec.structs.replace(
        question,
        program=program.text,
        answers={FIELD: "", **question.answers},
        model_answer=f"{question.model_answer} The mistake: {program.flaw}, line {lines}.",
        model_answer_zh=f"{question.model_answer_zh}程序的错误：{program.flaw}，第 {lines} 行。",
    )


def draw_form(wanted: Sequence[str] | int, seed: str) -> Spec:
    """Return the assignment with some questions, and numbers that the seed draws.

    Raises:
        UsageError: there is no such question, or not so many.
    """
    return make_spec(choose(questions(), wanted, seed))


def read_form(text: str) -> Spec:
    """Return the assignment that a form was drawn from.

    Raises:
        Refused: its draw number was altered.
    """
    form = Form.read(text)
    return make_spec(form) if form else SPEC


SPEC = make_spec()
