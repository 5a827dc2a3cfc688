"""Cards and a batch as a real run of ``numpy_attention`` would leave them."""
# ruff: noqa: E501 - tables of sentences read better unwrapped

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec
import numpy as np
import numpy.typing as npt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from harness.results import (
    LEVELS,
    Array,
    BatchResults,
    Bug,
    Card,
    CardSource,
    CheckResult,
    Curves,
    Diagnosis,
    Environment,
    Evidence,
    Facet,
    FollowUp,
    Heat,
    Level,
    Mismatch,
    Number,
    Outcome,
    Picture,
    Reach,
    Rearrangement,
    Stage,
    SubmissionResult,
    Verdict,
    Visibility,
    number,
)

Matrix = npt.NDArray[np.float64]

ENVIRONMENT = Environment(
    takehome="1.0.0",
    sandbox="container",
    isolated=True,
    image="sha256:9f2c61d0a4be7d3e08c1f5b6a7d8e9f00112233445566778899aabbccddeeff0",
    runtime="runc",
    python="3.11.9",
    numpy="2.4.6",
    limits={
        "call": "5 s",
        "import": "20 s",
        "submission": "60 s",
        "memory": "512 MiB",
        "processes": "64",
        "output": "64 KiB",
    },
)

#: id, title, level, facet, points: what the spec's checks say of a right answer.
CHECKS = (
    ("output-shape", "The output has shape (B, Tq, d_v), also when Tq ≠ Tk and d_k ≠ d_v", "pass", "shape", 1),
    ("weights-shape", "The weights have shape (B, Tq, Tk)", "pass", "shape", 1),
    ("definition", "The output is softmax(QKᵀ/√d_k) V within the rounding bound", "pass", "numeric", 4),
    ("scale", "Scores are divided by √d_k, once, before the softmax", "pass", "numeric", 2),
    ("softmax-axis", "Each query’s weights sum to 1 over the keys", "pass", "weights", 2),
    ("softmax-before-values", "The softmax comes before the product with V", "pass", "weights", 2),
    ("weights-valid", "Weights are finite and not negative, and rows sum to 1 also after masking", "pass", "weights", 1),
    ("values-aggregated", "The output is a weighted sum of V, linear in V", "pass", "behaviour", 1),
    ("mask-before-softmax", "Blocked keys get weight 0 and the rest renormalise", "pass", "weights", 2),
    ("mask-value", "The value at a blocked key has no influence", "pass", "behaviour", 2),
    ("mask-polarity", "True in the mask means: may attend", "pass", "behaviour", 1),
    ("causal-mask", "causal_mask allows a row its own position and the past", "pass", "behaviour", 1),
    ("causal-perturbation", "Changing a later token leaves earlier rows unchanged", "pass", "behaviour", 2),
    ("padding", "Masking a key equals leaving it out", "pass", "behaviour", 2),
    ("head-split", "split_heads gives each head its own slice, and merge_heads undoes it", "pass", "shape", 2),
    ("pe-values", "The encoding has the sines and cosines of the brief", "pass", "numeric", 2),
    ("padding-mask", "padding_mask marks the right keys from lengths", "good", "behaviour", 1),
    ("mask-combination", "Padding and causal masks combine elementwise", "good", "behaviour", 1),
    ("mask-broadcast", "Every mask shape that the brief names broadcasts", "good", "shape", 1),
    ("fully-masked-row", "A query with no allowed key gives a finite output and disturbs no other row", "good", "stability", 2),
    ("stable-softmax", "Logits in the thousands stay finite, and softmax(x + c) = softmax(x)", "good", "stability", 2),
    ("scale-effect", "The entropy of the weights does not depend on d", "good", "behaviour", 1),
    ("inputs-untouched", "The arguments are not modified", "good", "behaviour", 1),
    ("permutation", "Permuting keys and values together changes nothing", "good", "behaviour", 1),
    ("pe-shape", "The encoding has shape (max_len, d)", "good", "shape", 1),
    ("pe-distance", "The similarity of two positions depends on their distance only", "good", "behaviour", 1),
    ("determinism", "The same input gives the same output twice", "good", "behaviour", 1),
)  # fmt: skip

#: Checks that look at one stage only.
STAGES = {
    "scale": Stage.SCALE,
    "scale-effect": Stage.SCALE,
    "mask-before-softmax": Stage.MASK,
    "mask-value": Stage.MASK,
    "mask-polarity": Stage.MASK,
    "mask-combination": Stage.MASK,
    "mask-broadcast": Stage.MASK,
    "causal-mask": Stage.MASK,
    "causal-perturbation": Stage.MASK,
    "padding": Stage.MASK,
    "padding-mask": Stage.MASK,
    "fully-masked-row": Stage.MASK,
    "softmax-axis": Stage.NORMALISE,
    "softmax-before-values": Stage.NORMALISE,
    "stable-softmax": Stage.NORMALISE,
    "values-aggregated": Stage.AGGREGATE,
    "head-split": Stage.HEADS,
    "pe-values": Stage.ENCODING,
    "pe-shape": Stage.ENCODING,
    "pe-distance": Stage.ENCODING,
}

RIGHT = '''"""Attention by hand, in numpy."""

import numpy as np


def softmax(x, axis=-1):
    """Softmax that does not overflow: the maximum of each row is taken off first."""
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(d_k)      # (B, Tq, Tk)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    positions = np.arange(max_len)
    return (positions < np.asarray(lengths)[:, None])[:, None, :]


def split_heads(x, h):
    batch, length, width = x.shape
    if width % h:
        raise ValueError(f"width {width} is not divisible by {h} heads")
    return x.reshape(batch, length, h, width // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * width)


def positional_encoding(max_len, d):
    position = np.arange(max_len)[:, None]
    frequency = 10_000.0 ** (-np.arange(0, d, 2) / d)
    angle = position * frequency
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(1, 4, 8)) for _ in range(3))
    out, weights = attention(Q, K, V, causal_mask(4))
    print("out", out.shape, "weights", weights.shape)
    print(weights.round(3))
'''

OVER_QUERIES = RIGHT.replace(
    "weights = softmax(scores, axis=-1)", "weights = softmax(scores, axis=-2)"
)
NAN_ROW = RIGHT.replace(
    "scores = np.where(mask, scores, -1e9)", "scores = np.where(mask, scores, -np.inf)"
)
LOOPS = RIGHT.replace(
    "    weights = softmax(scores, axis=-1)\n",
    "    while not np.isfinite(scores).all():\n        scores = scores - scores.max()\n"
    "    weights = softmax(scores, axis=-1)\n",
)  # fmt: skip


def softmax(x: Matrix, axis: int = -1) -> Matrix:
    """Return the softmax of x over one axis."""
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
        total: Matrix = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return total


def array(values: npt.NDArray[np.generic]) -> Array:
    """Record an array as the harness does."""
    flat = [number(float(value)) for value in values.ravel()]
    return Array(dtype=str(values.dtype), shape=values.shape, values=tuple(flat))


def source(text: str, name: str = "submission.py") -> CardSource:
    """Highlight a file as the limited child does."""
    markup = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return CardSource(name=name, text=text, html=markup)


def checks(
    missed: dict[str, CheckResult] | None = None, *, spoilt: frozenset[str] = frozenset()
) -> tuple[CheckResult, ...]:
    """Return all checks as passed but those in ``missed``; ``spoilt`` ones pass and earn nothing."""
    results = []
    for position, (name, title, level, facet, points) in enumerate(CHECKS):
        result = CheckResult(
            id=name,
            title=title,
            outcome=Outcome.PASSED,
            level=Level(level),
            facet=Facet(facet),
            points=points,
            earned=0 if name in spoilt else points,
            seconds=0.0011 + 0.0007 * (position % 5),
            stage=STAGES.get(name),
        )
        other = (missed or {}).get(name)
        if other is not None:
            result = msgspec.structs.replace(
                result,
                outcome=other.outcome,
                earned=0,
                message=other.message,
                hint=other.hint,
                note=other.note,
                line=other.line,
                mismatch=other.mismatch,
                question=other.question,
                answer=other.answer,
                seconds=other.seconds or result.seconds,
            )
        results.append(result)
    return tuple(results)


def miss(
    outcome: Outcome,
    message: str,
    hint: str = "",
    *,
    note: str = "",
    line: int | None = None,
    mismatch: Mismatch | None = None,
    seconds: float = 0.0,
    question: str = "",
    answer: str = "",
) -> CheckResult:
    """Return the part of a failing check that differs from a passing one."""
    return CheckResult(
        id="",
        title="",
        outcome=outcome,
        level=Level.PASS,
        facet=Facet.NUMERIC,
        points=0,
        earned=0,
        message=message,
        hint=hint,
        note=note,
        line=line,
        mismatch=mismatch,
        seconds=seconds,
        question=question,
        answer=answer,
    )


def wrong(output: str, actual: Matrix, expected: Matrix, hint: str) -> CheckResult:
    """Return a failed check with the place where two arrays differ most."""
    error = np.where(np.isfinite(actual), np.abs(actual - expected), np.inf)
    index = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    allowed = 8 * 2.0**-53 * max(1.0, float(abs(expected[index])))
    mismatch = Mismatch(
        output=output,
        index=index,
        actual=number(float(actual[index])),
        expected=number(float(expected[index])),
        allowed=allowed,
        ratio=number(float(abs(actual[index] - expected[index])) / allowed),
        differing=int((~(error <= allowed)).sum()),
        total=error.size,
    )
    message = (
        f"{output}: got {actual[index]:.6g} at {list(index)}, expected {expected[index]:.6g}; "
        f"{mismatch.differing} of {mismatch.total} values differ"
    )
    return miss(Outcome.FAILED, message, hint, mismatch=mismatch)


def card(
    name: str,
    text: str,
    results: tuple[CheckResult, ...],
    *,
    diagnosis: tuple[Diagnosis, ...] = (),
    evidence: tuple[Evidence, ...] = (),
    log: str = "",
    notes: tuple[str, ...] = (),
    conventions: dict[str, str] | None = None,
) -> Card:
    """Assemble a card; verdict, level and score follow from the checks."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    reached = Level.NONE
    for level in LEVELS[1:]:
        own = [check for check in results if check.level is level]
        if not own or any(check.outcome is not Outcome.PASSED for check in own):
            break
        reached = level
    return Card(
        spec="numpy_attention",
        title="Attention in numpy",
        environment=ENVIRONMENT,
        result=SubmissionResult(
            spec="numpy_attention",
            id=name,
            sha256=digest,
            verdict=Verdict.FAILED if reached is Level.NONE else Verdict.PASSED,
            card=f"cards/submission-{digest[:6]}.html",
            level=reached,
            earned=sum(check.earned for check in results),
            possible=sum(check.points for check in results),
            diagnosis=diagnosis,
            conventions=conventions or {"entry point": "attention(Q, K, V, mask=None)", "returns": "(out, weights)", "mask": "True = may attend"},
            notes=notes,
            checks=results,
            seconds=0.043,
            exchanges=31,
        ),
        sources=(source(text),),
        log=log,
        evidence=evidence,
    )  # fmt: skip


def drawn() -> tuple[Matrix, Matrix, Matrix]:
    """Return Q, K and V of the smallest size of the ladder: B = 1, T = 2, d = 2."""
    rng = np.random.default_rng(11)
    q, k, v = rng.normal(size=(3, 1, 2, 2))
    return q, k, v


def call(normalise: Callable[[Matrix], Matrix], mask: npt.NDArray[np.bool_] | None = None) -> tuple[Matrix, Matrix]:  # fmt: skip
    """Return output and weights of the small call with one way to normalise."""
    q, k, v = drawn()
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = normalise(scores)
    return weights @ v, weights


def right() -> Card:
    """A right answer, with one note about precision."""
    results = checks()
    noted = msgspec.structs.replace(
        results[2], note="The result is float64 for float32 input: np.sqrt(d) promotes it."
    )
    return card(
        "ada-lovelace",
        RIGHT,
        (*results[:2], noted, *results[3:]),
        log="out (1, 4, 8) weights (1, 4, 4)\n[[[1.    0.    0.    0.   ]\n  [0.443 0.557 0.    0.   ]]]\n",
    )


def over_queries() -> Card:
    """The softmax over the queries: most checks of the weights fail, and the bug has a name."""
    out, weights = call(softmax)
    bad_out, bad_weights = call(lambda scores: softmax(scores, axis=-2))
    q, k, v = drawn()
    axis = "Normalise over the last axis, the keys: every query’s weights must sum to 1."
    missed = {
        "definition": wrong("out", bad_out, out, "Compare your weights with a hand-computed 2 × 2 example."),
        "softmax-axis": wrong("weights", bad_weights, weights, axis),
        "weights-valid": miss(Outcome.FAILED, "weights: row sums lie between 0.577 and 1.423, expected 1", axis),
        "mask-before-softmax": miss(Outcome.FAILED, "weights: query 0 sums to 0.318 over its allowed keys, expected 1", "Mask the scores, then take the softmax over the keys."),
        "causal-perturbation": miss(Outcome.FAILED, "out: row 0 moved by 4.1 when token 3 changed, expected no change", "A row may depend only on the keys that it is allowed to see."),
        "padding": miss(Outcome.FAILED, "out: differs from the call without the masked key by 0.73", "A masked key must drop out of the normalisation as well."),
        "scale-effect": miss(Outcome.FAILED, "weights: mean entropy is 1.91 at d = 4 and 1.88 at d = 256 over the wrong axis"),
    }  # fmt: skip
    trivial = frozenset({"output-shape", "weights-shape", "inputs-untouched", "determinism", "permutation"})  # fmt: skip
    return card(
        "grace-hopper",
        OVER_QUERIES,
        checks(missed, spoilt=trivial),
        diagnosis=(
            Diagnosis(
                flaw="softmax-over-queries",
                title="Softmax over the queries",
                stage=Stage.NORMALISE,
                confidence="Your output equals attention with the softmax over the queries (largest difference 2e-16 over 31 calls).",
                questions=(
                    FollowUp(
                        question="Each column of your weights sums to 1. What does that mean for a query that no other query competes with?",
                        answer="It would hand out more or less than one unit of attention; each query is a distribution over the keys, so the rows must sum to 1.",
                    ),
                ),
            ),
        ),
        evidence=(
            Evidence(
                check="softmax-axis",
                call="attention(Q, K, V)",
                inputs={"Q": array(q), "K": array(k), "V": array(v)},
                expected={"out": array(out), "weights": array(weights)},
                actual={"out": array(bad_out), "weights": array(bad_weights)},
                wrong={"out": (0, 1, 2, 3), "weights": (0, 1, 2, 3)},
                pictures=(heat(weights, bad_weights),),
            ),
        ),
    )  # fmt: skip


def heat(expected: Matrix, actual: Matrix) -> Heat:
    """Picture the weights of one item."""
    return Heat(
        output="weights",
        place="",
        rows="query",
        columns="key",
        whole=(expected.shape[-2], expected.shape[-1]),
        expected=numbers(expected[0]),
        actual=numbers(actual[0]),
        wrong=tuple(
            tuple(bool(value) for value in row) for row in ~np.isclose(expected[0], actual[0])
        ),
        probabilities=True,
    )


def numbers(matrix: Matrix) -> tuple[tuple[Number, ...], ...]:
    """Spell a matrix for JSON."""
    return tuple(tuple(number(float(value)) for value in row) for row in matrix)


def leak() -> Visibility:
    """A causal mask of four positions that lets the next one through, and keeps out the first."""
    cells = [
        [Reach.OPEN, Reach.LEAK, Reach.CLOSED, Reach.CLOSED],
        [Reach.OPEN, Reach.OPEN, Reach.LEAK, Reach.CLOSED],
        [Reach.LOST, Reach.OPEN, Reach.OPEN, Reach.LEAK],
        [Reach.FREE, Reach.NAN, Reach.OPEN, Reach.OPEN],
    ]
    return Visibility(
        found_by="weights",
        place="[1]",
        rows="query",
        columns="key",
        whole=(4, 4),
        cells=tuple(map(tuple, cells)),
        amounts=numbers(np.full((4, 4), 0.25)),
    )


def heads() -> Rearrangement:
    """Heads split by a reshape alone: (1, 2, 4) to (1, 2, 2, 2)."""
    return Rearrangement(
        source="x",
        source_shape=(1, 2, 4),
        output="heads",
        shape=(1, 2, 2, 2),
        expected=(0, 1, 4, 5, 2, 3, 6, 7),
        actual_shape=(1, 2, 2, 2),
        actual=(0, 1, 2, 3, 4, 5, 6, 7),
    )


def waves() -> Curves:
    """Two columns of an encoding whose exponent is doubled."""
    position = np.arange(64.0)
    right, found = (
        np.stack([np.sin(position / slower), np.sin(position / slower**2)])
        for slower in (3.16, 10.0)
    )
    return Curves(
        output="encoding",
        call="positional_encoding(max_len=64, d=16)",
        along="position",
        columns=(1, 2),
        wrong=14,
        total=16,
        expected=numbers(right),
        actual=numbers(found),
    )


def composite() -> Card:
    """Two bugs at once, and a picture of every kind."""
    bug = "scores divided by d_k, and blocked scores set to 0"
    reshaped = "heads split by a reshape alone"
    missed = {
        "definition": miss(Outcome.FAILED, "weights[0][0][1] is 0.3, expected 0.1"),
        "mask-before-softmax": miss(Outcome.FAILED, "weights[0][0][1] is 0.25, expected 0"),
        "head-split": miss(Outcome.FAILED, "4 of 8 values differ"),
        "pe-values": miss(Outcome.FAILED, "14 of 16 columns differ"),
    }
    return card(
        "mary-jackson",
        RIGHT.replace("np.sqrt(d_k)", "d_k").replace("-1e9", "0"),
        checks(missed),
        diagnosis=(
            Diagnosis(flaw="a+b", title=bug, stage=Stage.SCALE, stages=(Stage.SCALE, Stage.MASK), confidence=f"Your output equals attention with {bug}.", parts=tuple(Bug(id=one, title=title, stage=stage) for one, title, stage in zip("ab", bug.split(", and "), (Stage.SCALE, Stage.MASK), strict=True))),
            Diagnosis(flaw="c", title=reshaped, stage=Stage.HEADS, stages=(Stage.HEADS,), confidence=f"Your output equals attention with {reshaped}."),
        ),
        evidence=(
            Evidence(check="mask-before-softmax", call="attention(Q, K, V, mask)", pictures=(leak(),)),
            Evidence(check="head-split", call="split_heads(x, h=2)", pictures=(heads(),)),
            Evidence(check="pe-values", call="positional_encoding(max_len=7, d=6)", pictures=(waves(),)),
        ),
    )  # fmt: skip


def nan_row() -> Card:
    """A fully masked row becomes NaN: passes, and does not reach good."""
    q, k, v = drawn()
    mask = np.array([[[True, False], [False, False]]])
    bad_out, bad_weights = call(softmax, mask)
    out, weights = np.nan_to_num(bad_out), np.nan_to_num(bad_weights)
    missed = {
        "fully-masked-row": miss(
            Outcome.FAILED,
            "out: got nan at [0, 1, 0], expected a finite value; 2 of 4 values are not finite",
            "A row of −inf has no maximum to take off. Fill with a large finite number, or set such rows to 0.",
            question="What comes out of a softmax over nothing?",
            answer="0 / 0.",
            mismatch=Mismatch(output="out", index=(0, 1, 0), actual="nan", expected=0.0, allowed=1e-15, ratio="nan", differing=2, total=4),
        )
    }  # fmt: skip
    return card(
        "katherine-johnson",
        NAN_ROW,
        checks(missed),
        evidence=(
            Evidence(
                check="fully-masked-row",
                call="attention(Q, K, V, mask)",
                inputs={"Q": array(q), "K": array(k), "V": array(v), "mask": array(mask)},
                expected={"out": array(out), "weights": array(weights)},
                actual={"out": array(bad_out), "weights": array(bad_weights)},
            ),
        ),
        log="submission.py:8: RuntimeWarning: invalid value encountered in subtract\n",
    )


def crashed() -> Card:
    """A submission that loops on masks, raises on odd shapes, and dies at last."""
    missed = {
        "output-shape": miss(Outcome.RAISED, "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0 (size 5 is different from 3)", "Tq and Tk may differ; only d_k must agree.", line=15),
        "mask-before-softmax": miss(Outcome.TIMED_OUT, "no answer within 5 s", "A call on a few tokens takes microseconds; look for a loop that never ends.", line=None, seconds=5.0),
        "mask-value": miss(Outcome.TIMED_OUT, "no answer within 5 s", seconds=5.0),
        "mask-polarity": miss(Outcome.OUT_OF_RESOURCES, "stopped at the memory limit of 512 MiB"),
        "causal-mask": miss(Outcome.CRASHED, "the process ended with signal SIGSEGV"),
        "causal-perturbation": miss(Outcome.TIMED_OUT, "no answer within 5 s", seconds=5.0),
    }  # fmt: skip
    ended = miss(Outcome.NOT_RUN, "three timeouts ended the submission")
    names = [name for name, *_ in CHECKS]
    missed |= dict.fromkeys(names[names.index("padding") :], ended)
    return card(
        "linus-t",
        LOOPS,
        checks(missed),
        notes=("The module did not import as a whole (No module named 'matplotlib'); its definitions alone were run.",),
        log="Traceback (most recent call last):\n  File \"submission.py\", line 15, in attention\n",
    )  # fmt: skip


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'><svg/onload=alert(3)>"


def hostile(payload: str = HOSTILE) -> Card:
    """Candidate text wherever a candidate can put some."""
    missed = {
        "definition": miss(Outcome.RAISED, f"ValueError: {payload}", payload, note=payload, line=3),
        "scale": miss(Outcome.FAILED, payload * 3, payload, mismatch=Mismatch(output=payload, index=(0, 0), actual="nan", expected=1.0, allowed=1e-15, ratio="inf", differing=1, total=1)),
        "mask-value": miss(Outcome.PROTOCOL_VIOLATION, payload),
    }  # fmt: skip
    text = f'# {payload}\n"""{payload}"""\nx = "{payload}"\n' + "long = 1 + " + "1 + " * 200 + "1\n"
    whole = card(
        payload[:80],
        text,
        checks(missed),
        diagnosis=(
            Diagnosis(flaw=payload, title=payload, stage=Stage.HEADS, confidence=payload, alternatives=(payload, payload), questions=(FollowUp(question=payload, answer=payload),) * 2),
        ),
        evidence=(
            Evidence(check="scale", call=payload, inputs={payload: array(np.eye(2))}, expected={payload: array(np.eye(2))}, actual={payload: array(np.ones((2, 2)))}, pictures=_hostile_pictures(payload)),
        ),
        log=payload * 20,
        notes=(payload,),
        conventions={payload: payload},
    )  # fmt: skip
    sources = (*whole.sources, CardSource(name=payload, text=payload, html=payload))
    return msgspec.structs.replace(whole, sources=sources)


def _hostile_pictures(payload: str) -> tuple[Picture, ...]:
    """Pictures that carry a text in every field that holds one."""
    replace = msgspec.structs.replace
    half = np.full((1, 2, 2), 0.5)
    return (
        replace(heat(half, half * np.nan), output=payload, place=payload, rows=payload, columns=payload),
        replace(leak(), place=payload, rows=payload, columns=payload, found_by=payload),
        replace(heads(), source=payload, output=payload),
        replace(waves(), output=payload, call=payload, along=payload),
    )  # fmt: skip


def ungradeable() -> Card:
    """Nothing to call: refused with one line."""
    return Card(
        spec="numpy_attention",
        title="Attention in numpy",
        environment=ENVIRONMENT,
        result=SubmissionResult(
            spec="numpy_attention",
            id="empty-handed",
            sha256=hashlib.sha256(b"").hexdigest(),
            verdict=Verdict.UNGRADEABLE,
            reason="no function attention(Q, K, V, mask) was found; the file defines: main, load_data",
            card="cards/empty-handed-e3b0c4.html",
            possible=41,
        ),
        sources=(source("def load_data():\n    ...\n\n\ndef main():\n    load_data()\n"),),
    )


def invalid() -> Card:
    """The harness broke."""
    return Card(
        spec="numpy_attention",
        title="Attention in numpy",
        environment=ENVIRONMENT,
        result=SubmissionResult(
            spec="numpy_attention",
            id="unlucky",
            sha256=hashlib.sha256(b"unlucky").hexdigest(),
            verdict=Verdict.INVALID,
            reason="the engine went away while the container was starting; run the batch again",
            card="cards/unlucky-0a1b2c.html",
            possible=41,
        ),
    )


def cards() -> tuple[Card, ...]:
    """Return one card of each kind."""
    return (
        right(),
        over_queries(),
        composite(),
        nan_row(),
        crashed(),
        hostile(),
        ungradeable(),
        invalid(),
    )


def batch(all_cards: tuple[Card, ...] | None = None) -> BatchResults:
    """Return the results that hold these cards."""
    return BatchResults(
        specs=("numpy_attention",),
        title="Attention in numpy",
        seed="7f3a9c51d2e8b604",
        environment=ENVIRONMENT,
        submissions=tuple(one.result for one in (cards() if all_cards is None else all_cards)),
        ignored=("README.md: not a submission", ".DS_Store: hidden"),
    )
