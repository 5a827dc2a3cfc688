"""Attention block by block: the same numbers at any block size, in little memory."""

from __future__ import annotations

import math

import numpy as np

from harness import Expected, Facet, Judge, Tensor, criterion
from specs.criteria.cases import AttentionCases, Case, Shape, judge_case, own

#: (queries, keys, width, values) whose lengths have common divisors, smallest first.
SIZES = ((2, 2, 2, 2), (2, 4, 2, 2), (4, 12, 5, 3), (6, 6, 4, 4))


@criterion(
    facet=Facet.NUMERIC,
    hint="Keep the largest score, the sum and the output of each row; when a block brings a larger "
    "score, multiply both sums by exp(old maximum - new maximum), and divide at the end.",
)
def online_equals_full(attention_in_blocks, cases: AttentionCases, judge: Judge):
    """At every block size that divides the lengths, the output is softmax(QKᵀ/√d_k) V."""
    drawn = [
        (cases.of(Shape((2,), *lengths)), size)
        for lengths in SIZES
        for size in _divisors(math.gcd(*lengths[:2]))
    ]
    calls = [(*case.arguments, size) for case, size in drawn]
    for returned, (case, _) in zip(attention_in_blocks.each(calls), drawn, strict=True):
        judge_case(judge, returned, case)


@criterion(
    facet=Facet.NUMERIC,
    hint="The last block may be shorter: slice to min(start + block_size, Tk), pad nothing, and "
    "slice the mask with it.",
    earns_with="online-equals-full",
)
def online_ragged(attention_in_blocks, cases: AttentionCases, judge: Judge):
    """A block size that does not divide the keys, or exceeds them, gives the same."""
    for case in (*cases.both, *cases.both_masked):
        masks = case.arguments[3:]
        sizes = (1, 2, 3, 4, 5, 10)
        calls = [(*case.arguments[:3], size, *masks) for size in sizes]
        by_one, *others = attention_in_blocks.each(calls)
        expected = own(judge, by_one, case)
        for size, returned in zip(sizes[1:], others, strict=True):
            judge.close(returned["out"], expected, f"out at block size {size}")


@criterion(
    facet=Facet.EFFICIENCY,
    hint="Make nothing of size Tq × Tk: score one block of keys at a time, and keep only sums.",
    earns_with="online-equals-full",
)
def memory_growth(attention_in_blocks, draw, judge: Judge):
    """Twice the length takes no more than twice the memory: no array is Tq × Tk.

    M is by how much memory rises during a call. What grows with T cancels in M(2T) - 2·M(T);
    one array of T × T leaves 2T² numbers of it. The limit is twice what readings are off by, and T
    so long that bytes, as of a bool mask, leave more by half: 1,536 where the supervisor reads
    the memory of a sandbox, and shorter where every allocation is seen. The call that warms up
    is of T / 8, so that what a library allocates once for its products is there before.
    """
    limit = 2 * attention_in_blocks.memory_noise
    length = _length(limit)
    block = length // 32
    small = _call(draw, length // 8, block)
    risen = []
    for longer in (length, 2 * length):
        arguments = _call(draw, longer, block)
        returned, bytes_risen = attention_in_blocks.measured(arguments, after=small)
        risen.append(bytes_risen)
        _judge_some_rows(attention_in_blocks, judge, returned["out"], arguments)
    growth = risen[1] - 2 * risen[0]
    judge.require(
        growth < limit,
        f"memory rises by {_megabytes(risen[0])} for T = {length:,} and by {_megabytes(risen[1])} "
        f"for T = {2 * length:,}: {_megabytes(growth)} more than in proportion, "
        f"expected less than {_megabytes(limit)}",
    )


def _divisors(number: int) -> list[int]:
    return [size for size in range(1, number + 1) if number % size == 0]


def _length(limit: int) -> int:
    """Return the least 3 · 2^k at which 2T² bytes are more than the limit by half."""
    length = 96
    while 2 * length**2 < 1.5 * limit:
        length *= 2
    return length


def _call(draw, length: int, block: int):
    """Draw the arguments of a call; the first feature of V is 1."""
    query, key, value = (draw.normal(1, length, 16) for _ in "qkv")
    value[..., 0] = 1
    return query, key, value, block


def _judge_some_rows(attention_in_blocks, judge: Judge, out, arguments) -> None:
    """Require averages of V that a few queries alone get, too: nobody saves by not computing."""
    query, key, value, block = arguments
    found = judge.shape(out, value.shape, "out")
    rows = slice(None, None, query.shape[-2] // 4)
    few = Case(query[:, rows], key, value)
    alone = own(judge, attention_in_blocks(*few.arguments, block), few)
    chosen = Tensor(found.values[:, rows], found.dtype)
    judge.close(chosen, alone, "out")
    ones = Expected(np.ones(alone.values.shape[:-1]), alone.at((..., 0)).roundoffs)
    judge.close(Tensor(chosen.values[..., 0], found.dtype), ones, "out for V = 1")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
