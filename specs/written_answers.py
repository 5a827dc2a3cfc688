"""The 66 questions of the third source document as a form.

Fields of twelve are checked by machine; what is answered in prose has key points, which a person
marks. The reference and the flaws are answers to fields: a part is named after its field, and says one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from harness import Draw, EntryPoint, Level, Spec, answer_form
from specs.briefs import brief
from specs.briefs.questionnaire import questions
from specs.criteria import written
from specs.flaws.written import FLAWS, rows, said

TITLE = "Written answers on self-attention"

RIGHT = {
    "9 dimension": "T_k",
    **dict.fromkeys(("13 W_Q", "13 W_K"), "[d_model, d_k]"),
    "13 W_V": "[d_model, d_v]",
    **dict.fromkeys(("13 Q", "13 K"), "[B, T, d_k]"),
    "13 V": "[B, T, d_v]",
    **dict.fromkeys(("14 QK^T", "14 weights"), "[B, T_q, T_k]"),
    "14 output": "[B, T_q, d_v]",
    **dict.fromkeys(("15 X", "15 projected", "15 concatenated", "15 output"), "[2, 4, 8]"),
    "15 split": "[2, 4, 2, 4]",
    **dict.fromkeys(
        ("15 transposed", "15 scores", "15 weights", "15 head outputs"), "[2, 2, 4, 4]"
    ),
    "16 shape": "[T, T]",
    "16 row i": "query i",
    "16 column j": "key j",
    "17 without a mask": rows(4, lambda i, j: True),
    "17 causal": rows(4, lambda i, j: j <= i),
    "18 weights": "0.67, 0.24, 0.09",
    "22 padding mask": "[B, 1, 1, T_k]",
    "22 causal mask": "[1, 1, T_q, T_k]",
    "24 causal": rows(5, lambda i, j: j <= i),
    "37 time of the attention": "O(T² · d_model)",
    "37 time of the projections": "O(T · d_model²)",
    "37 memory of the weights": "O(T²)",
    **dict.fromkeys(("38 work", "38 memory"), "4"),
    "40 scores": "16",
    "40 KV cache": "linearly",
}


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return what a form with these answers says."""

    def answer(question: str) -> Any:
        return answer_form.to_bytes(str(parts[question]()) if question in parts else "")

    return {"answer": answer}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Expect nothing in numbers: answers are read by their criteria alone."""
    return {"answer": lambda question: ()}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """Draw nothing."""
    return {}


PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

QUESTIONS = questions()

SPEC = Spec(
    name="written_answers",
    title=TITLE,
    brief=brief("written_answers"),
    starter=answer_form.blank(TITLE, QUESTIONS),
    arrays="numpy",
    image="text",
    entry_points=(
        EntryPoint(role="answer", name="answer", parameters=("question",), returns=("text",)),
    ),
    checks=(
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
    ),
    reference=MappingProxyType({name: said(text) for name, text in RIGHT.items()}),
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    questions=QUESTIONS,
)
