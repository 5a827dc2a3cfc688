"""Written answers that a machine can read: shapes, masks, weights, growth, one dimension.

Titles, messages and hints say what is asked and what was read, never the right answer: whoever
checks their own form would copy it. An answer that no reader understands is left to a person.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

from harness import Facet, Judge, answer_form, criterion
from harness.errors import Unread
from specs.criteria import notation

#: Names that are as good as one another in a place of a shape.
WIDTH_K, WIDTH_V = {"dk", "dhead"}, {"dv", "dhead"}
QUERIES, KEYS = {"tq", "t"}, {"tk", "t"}
ONE = {"1"}


@criterion(
    facet=Facet.WEIGHTS,
    hint="The weights of one query over all that it may look at sum to 1. Which axis is that?",
)
def c09_softmax_dimension(answer, judge: Judge):
    """Question 9: the dimension of the softmax is named."""
    (said,) = _answers(answer, judge, 9, "dimension")
    axis = _read(notation.axis, said, "one dimension, such as a name or an index")
    judge.require(axis == "keys", f"the softmax does not normalise over the {axis}")


@criterion(
    facet=Facet.SHAPE,
    hint="In X W the last dimension of X meets the first of W; the first two of X stay.",
)
def c13_projection_shapes(answer, judge: Judge):
    """Question 13: the projections of one head, and what they give, have these shapes."""
    right = {
        **dict.fromkeys(("W_Q", "W_K"), ({"dmodel"}, WIDTH_K)),
        "W_V": ({"dmodel"}, WIDTH_V),
        **dict.fromkeys(("Q", "K"), ({"b"}, {"t"}, WIDTH_K)),
        "V": ({"b"}, {"t"}, WIDTH_V),
    }
    _judge_shapes(answer, judge, 13, {name: (shape,) for name, shape in right.items()})


@criterion(
    facet=Facet.SHAPE,
    hint="[T_q, d] times [d, T_k], and the result times [T_k, d_v]; the batch comes first.",
)
def c14_attention_shapes(answer, judge: Judge):
    """Question 14: scores, weights and output of one head have these shapes."""
    scores = ({"b"}, {"tq"}, {"tk"})
    right = {"QK^T": scores, "weights": scores, "output": ({"b"}, {"tq"}, WIDTH_V)}
    _judge_shapes(answer, judge, 14, {name: (shape,) for name, shape in right.items()})


@criterion(
    facet=Facet.SHAPE,
    hint="Split the last dimension into heads and width, then move the heads before the tokens; "
    "undo both at the end.",
)
def c15_multi_head_shapes(answer, judge: Judge, numbers: Mapping[str, str]):
    """Question 15: each step of several heads has this shape."""
    batch, length, heads, width = (numbers[name] for name in ("B", "T", "h", "d_head"))
    whole, apart = (batch, length, numbers["d_model"]), (batch, heads, length)
    right = {
        **dict.fromkeys(("X", "projected", "concatenated", "output"), whole),
        "split": (batch, length, heads, width),
        **dict.fromkeys(("transposed", "head outputs"), (*apart, width)),
        **dict.fromkeys(("scores", "weights"), (*apart, length)),
    }
    sets = {name: (tuple({length} for length in shape),) for name, shape in right.items()}
    _judge_shapes(answer, judge, 15, sets)


@criterion(
    facet=Facet.SHAPE,
    hint="Each token asks, and each can be found: who asks is told by the row that sums to 1.",
)
def c16_weight_matrix(answer, judge: Judge):
    """Question 16: the weights of one head have this shape, and rows and columns are told apart."""
    _judge_shapes(answer, judge, 16, {"shape": ((QUERIES, KEYS),)})
    for name, right in (("row i", "query"), ("column j", "key")):
        (said,) = _answers(answer, judge, 16, name)
        reader = functools.partial(notation.role, index=name[-1])
        found = _read(reader, said, "a query or a key")
        judge.require(found == right, f"{name} does not belong to a {found}")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="A row per query: with a causal mask each token sees itself and what lies before it.",
)
def c17_masks_of_four(answer, judge: Judge, numbers: Mapping[str, str]):
    """Question 17: some tokens without a mask, and under a causal mask."""
    size = int(numbers["short"])
    _judge_grid(answer, judge, 17, "without a mask", size, lambda i, j: True)
    _judge_grid(answer, judge, 17, "causal", size, lambda i, j: j <= i)


@criterion(
    facet=Facet.NUMERIC,
    hint="exp of each score, divided by their sum.",
)
def c18_softmax_of_three(answer, judge: Judge, numbers: Mapping[str, str]):
    """Question 18: the softmax of three scores."""
    (said,) = _answers(answer, judge, 18, "weights")
    found = _read(notation.proportions, said, "three numbers")
    right = softmax_of(numbers["scores"])
    judge.require(len(found) == 3, f"{_quoted(said)} holds {len(found)} numbers, expected three")
    judge.require(max(found) - min(found) > 0.03, "different scores have the same weight")
    near = all(abs(one - other) < 0.015 for one, other in zip(found, right, strict=True))
    judge.require(near, f"{_quoted(said)} are not the weights of these scores")


@criterion(
    facet=Facet.SHAPE,
    hint="A mask broadcasts when each dimension, from the right, is 1 or that of the scores.",
)
def c22_mask_shapes(answer, judge: Judge):
    """Question 22: the smallest masks that broadcast to [B, H, T_q, T_k]."""
    plain = (QUERIES, KEYS)
    right = {
        "padding mask": (({"b"}, ONE, ONE, KEYS),),
        "causal mask": (plain, (ONE, *plain), (ONE, ONE, *plain)),
    }
    _judge_shapes(answer, judge, 22, right)


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="A row per query: each token sees itself and what lies before it.",
)
def c24_causal_mask_of_five(answer, judge: Judge, numbers: Mapping[str, str]):
    """Question 24: the causal mask of some tokens."""
    _judge_grid(answer, judge, 24, "causal", int(numbers["long"]), lambda i, j: j <= i)


@criterion(
    facet=Facet.EFFICIENCY,
    hint="Count multiplications: [T, d] times [d, T] for the scores, [T, d] times [d, d] for a "
    "projection; then count the numbers in the weights.",
)
def c37_growth(answer, judge: Judge):
    """Question 37: time and memory in T and d_model."""
    attention, projections, weights = (2, 1), (1, 2), (2, 0)
    _judge_growth(answer, judge, 37, "time of the attention", attention, {projections, weights})
    _judge_growth(answer, judge, 37, "time of the projections", projections, set())
    _judge_growth(answer, judge, 37, "memory of the weights", weights, {(1, 1)})


@criterion(
    facet=Facet.EFFICIENCY,
    hint="The matrix has a row and a column per token.",
)
def c38_doubling(answer, judge: Judge, numbers: Mapping[str, str]):
    """Question 38: by how much a greater length costs more."""
    for name in ("work", "memory"):
        _judge_factor(answer, judge, 38, name, int(numbers["growth"]) ** 2)


@criterion(
    facet=Facet.EFFICIENCY,
    hint="Scores: a row and a column per token. Cache: one key and one value per token.",
)
def c40_long_context(answer, judge: Judge, numbers: Mapping[str, str]):
    """Question 40: what a longer context costs, in scores and in the cache."""
    _judge_factor(answer, judge, 40, "scores", int(numbers["context"]) ** 2)
    (said,) = _answers(answer, judge, 40, "KV cache")
    kind = _read(notation.kind_of_growth, said, "a growth, such as a word or O(…)")
    judge.require(kind == "linear", f"the growth of the KV cache is not {kind}")


def softmax_of(scores: str) -> tuple[float, ...]:
    """Return the weights of scores as a form spells them, e.g. "[2, 1, 0]"."""
    powers = [math.exp(int(score)) for score in scores.strip("[]").split(",")]
    return tuple(power / sum(powers) for power in powers)


def _answers(answer, judge: Judge, number: int, *names: str) -> list[str]:
    returned = answer.each((f"{number} {name}",) for name in names)
    said = [answer_form.from_bytes(outputs["text"].values) for outputs in returned]
    for name, text in zip(names, said, strict=True):
        judge.require(bool(text), f"{name} is not answered")
    return said


def _read(reader: Callable, said: str, kind: str):
    found = reader(said)
    if found is None:
        raise Unread(f"{_quoted(said)} was read as nothing, expected {kind}")
    return found


def _judge_shapes(answer, judge: Judge, number: int, right) -> None:
    """``right``: name of the field -> shapes, each a set of names per dimension."""
    for name, said in zip(right, _answers(answer, judge, number, *right), strict=True):
        found = _read(notation.shape, said, "a shape; write it like [B, T, d_model]")
        fits = any(
            len(found) == len(shape)
            and all(length in names for length, names in zip(found, shape, strict=True))
            for shape in right[name]
        )
        judge.require(fits, f"{name} has another shape than [{', '.join(found)}]")


def _judge_grid(answer, judge: Judge, number: int, name: str, size: int, allowed: Callable) -> None:
    (said,) = _answers(answer, judge, number, name)
    kind = f"a matrix of {size} × {size}; write it with 1 and 0, one row per line"
    found = _read(lambda text: notation.grid(text, size), said, kind)
    right = [allowed(i, j) for i in range(size) for j in range(size)]
    pairs = list(zip(found, right, strict=True))
    wrong = []
    if any(one and not other for one, other in pairs):
        wrong.append("allows what may not be seen")
    if any(other and not one for one, other in pairs):
        wrong.append("blocks what may be seen")
    judge.require(not wrong, f"{name}: the matrix {' and '.join(wrong)}")


def _judge_growth(answer, judge: Judge, number: int, name: str, right, besides) -> None:
    (said,) = _answers(answer, judge, number, name)
    found = _read(notation.growth, said, "a growth; write it like O(T · d_model)")
    fits = right in found and found <= besides | {right}
    spelled = " + ".join(map(_term, sorted(found, reverse=True)))
    judge.require(fits, f"the {name} does not grow as {spelled}")


def _judge_factor(answer, judge: Judge, number: int, name: str, right: int) -> None:
    (said,) = _answers(answer, judge, number, name)
    found = _read(notation.factor, said, "one factor")
    count = _COUNTS.get(found, str(found))
    judge.require(found == right, f"{name} does not grow by a factor of {count}")


#: Spelled out: diagnosis compares messages without their numbers.
_COUNTS = {1: "one", 2: "two", 4: "four", 8: "eight", 16: "sixteen"}
_RAISED = {0: None, 1: "", 2: "²", 3: "³"}


def _term(exponents: tuple[int, int]) -> str:
    powers = zip(("T", "d"), (_RAISED.get(power, "ⁿ") for power in exponents), strict=True)
    return "·".join(f"{name}{power}" for name, power in powers if power is not None)


def _quoted(said: str) -> str:
    line = " ".join(said.split())
    return f"“{line[:60]}{'…' if len(line) > 60 else ''}”"
