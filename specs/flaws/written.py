"""Wrong written answers, each of one field: what people confuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness import Flaw, Stage


def said(text: str) -> Callable[[], str]:
    """Return a function that gives this answer."""
    return lambda: text


def rows(size: int, allowed: Callable[[int, int], bool]) -> str:
    """Write a matrix of who may attend, a line per query."""
    return "\n".join(
        " ".join("1" if allowed(i, j) else "0" for j in range(size)) for i in range(size)
    )


def wrong(
    id: str,
    title: str,
    stage: Stage,
    check: str,
    question: str,
    answer: str,
    *,
    says: Mapping[str, str],
) -> Flaw:
    """Describe wrong answers; ``says`` maps fields to what stands there."""
    return Flaw(
        id=id,
        title=title,
        stage=stage,
        parts={field: said(text) for field, text in says.items()},
        caught_by=(check,),
        question=question,
        answer=answer,
    )


AXIS = (
    "The weights are [B, H, T_q, T_k]. Which sums are 1?",
    "Those over T_k: each query divides its attention among the keys.",
)
INNER = (
    "In X W_Q, which dimensions have to be equal?",
    "The last of X and the first of W_Q: d_model.",
)
LENGTHS = (
    "Which sequence tells how long the output is, and which one how wide?",
    "Queries tell the length, V tells the width.",
)
SPLIT = (
    "After the split a tensor is [2, 4, 2, 4]. What is each number?",
    "Batch, tokens, heads, width; the heads have to come before the tokens for the product.",
)
CAUSAL = (
    "May token 1 see itself, and token 2?",
    "Itself yes, token 2 no: row i allows columns 1 … i.",
)
SUM = (
    "What do you divide exp(2) by?",
    "By exp(2) + exp(1) + exp(0) = 11.1, which gives 0.67.",
)
BROADCAST = (
    "How does a mask of [B, T_k] align with [B, H, T_q, T_k]?",
    "From the right: B meets T_q. It needs two dimensions of 1 in between.",
)
COST = (
    "How many multiplications does QKᵀ take for T tokens of width d?",
    "T² · d; a projection takes T · d².",
)
SQUARE = (
    "How many entries does the score matrix have for T and for 2T?",
    "T² and 4T².",
)

FLAWS = (
    wrong("axis-of-queries", "the softmax taken over the queries", Stage.NORMALISE,
          "c09-softmax-dimension", *AXIS, says={"9 dimension": "T_q"}),
    wrong("axis-of-heads", "the softmax taken over the heads", Stage.NORMALISE,
          "c09-softmax-dimension", *AXIS, says={"9 dimension": "dim=1"}),
    wrong("projection-transposed", "a projection as [d_k, d_model], which X does not meet",
          Stage.PROJECTION, "c13-projection-shapes", *INNER,
          says={"13 W_Q": "[d_k, d_model]", "13 W_K": "[d_k, d_model]"}),
    wrong("projection-square", "every projection as [d_model, d_model]", Stage.PROJECTION,
          "c13-projection-shapes", *INNER, says={"13 W_V": "[d_model, d_model]"}),
    wrong("values-as-wide-as-keys", "V as wide as K", Stage.PROJECTION,
          "c13-projection-shapes", *LENGTHS, says={"13 V": "[B, T, d_k]"}),
    wrong("scores-transposed", "scores as [B, T_k, T_q]", Stage.SCORE,
          "c14-attention-shapes", *LENGTHS, says={"14 QK^T": "[B, T_k, T_q]"}),
    wrong("output-of-key-length", "an output as long as the keys", Stage.AGGREGATE,
          "c14-attention-shapes", *LENGTHS, says={"14 output": "[B, T_k, d_v]"}),
    wrong("output-of-key-width", "an output as wide as the keys", Stage.AGGREGATE,
          "c14-attention-shapes", *LENGTHS, says={"14 output": "[B, T_q, d_k]"}),
    wrong("heads-not-moved", "heads left behind the tokens", Stage.HEADS,
          "c15-multi-head-shapes", *SPLIT, says={"15 transposed": "[2, 4, 2, 4]"}),
    wrong("scores-without-heads", "scores that have lost their heads", Stage.HEADS,
          "c15-multi-head-shapes", *SPLIT, says={"15 scores": "[2, 4, 4]"}),
    wrong("heads-not-joined", "a concatenation as wide as one head", Stage.HEADS,
          "c15-multi-head-shapes", *SPLIT, says={"15 concatenated": "[2, 4, 4]"}),
    wrong("rows-are-keys", "rows of the weights taken for keys", Stage.NORMALISE,
          "c16-weight-matrix", *AXIS, says={"16 row i": "key i", "16 column j": "query j"}),
    wrong("weights-as-values", "weights of the shape of V", Stage.NORMALISE,
          "c16-weight-matrix", *AXIS, says={"16 shape": "[T, d_v]"}),
    wrong("four-upside-down", "a causal mask that allows the future", Stage.MASK,
          "c17-masks-of-four", *CAUSAL, says={"17 causal": rows(4, lambda i, j: j >= i)}),
    wrong("four-masked-already", "a mask where there is none", Stage.MASK,
          "c17-masks-of-four", *CAUSAL, says={"17 without a mask": rows(4, lambda i, j: i != j)}),
    wrong("five-without-diagonal", "a causal mask without its diagonal", Stage.MASK,
          "c24-causal-mask-of-five", *CAUSAL, says={"24 causal": rows(5, lambda i, j: j < i)}),
    wrong("five-one-ahead", "a causal mask that lets each token see one ahead", Stage.MASK,
          "c24-causal-mask-of-five", *CAUSAL, says={"24 causal": rows(5, lambda i, j: j <= i + 1)}),
    wrong("scores-divided", "scores divided by their sum, without exp", Stage.NORMALISE,
          "c18-softmax-of-three", *SUM, says={"18 weights": "0.67, 0.33, 0"}),
    wrong("weights-equal", "equal weights, as if scores did not count", Stage.NORMALISE,
          "c18-softmax-of-three", *SUM, says={"18 weights": "0.33, 0.33, 0.33"}),
    wrong("padding-of-two-dimensions", "a padding mask of [B, T_k], which does not broadcast",
          Stage.MASK, "c22-mask-shapes", *BROADCAST, says={"22 padding mask": "[B, T_k]"}),
    wrong("padding-of-queries", "a padding mask along the queries", Stage.MASK,
          "c22-mask-shapes", *BROADCAST, says={"22 padding mask": "[B, 1, T_q, 1]"}),
    wrong("causal-of-batch", "a causal mask of [B, T_q, T_k], which meets the heads", Stage.MASK,
          "c22-mask-shapes", *BROADCAST, says={"22 causal mask": "[B, T_q, T_k]"}),
    wrong("attention-linear", "the cost of the projections given for the attention", Stage.SCORE,
          "c37-growth", *COST, says={"37 time of the attention": "O(T d_model^2)"}),
    wrong("projections-quadratic", "the cost of the attention given for the projections",
          Stage.PROJECTION, "c37-growth", *COST,
          says={"37 time of the projections": "O(T^2 d_model)"}),
    wrong("weights-with-width", "weights that grow with the width", Stage.SCORE,
          "c37-growth", *COST, says={"37 memory of the weights": "O(T^2 d_model)"}),
    wrong("work-doubles", "twice the work for twice the length", Stage.SCORE,
          "c38-doubling", *SQUARE, says={"38 work": "2"}),
    wrong("memory-doubles", "twice the memory for twice the length", Stage.SCORE,
          "c38-doubling", *SQUARE, says={"38 memory": "it doubles"}),
    wrong("scores-linear", "four times the scores for four times the context", Stage.SCORE,
          "c40-long-context", *SQUARE, says={"40 scores": "4x"}),
    wrong("cache-quadratic", "a KV cache that grows quadratically", Stage.CACHE,
          "c40-long-context", "What does the cache hold per token?",
          "One key and one value per layer and head, so it grows linearly.",
          says={"40 KV cache": "quadratically"}),
)  # fmt: skip
