"""What a Transformer block must be: residuals, norms, and masks that hold together."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import Draw, Expected, Facet, Judge, Stage, Tensor, criterion
from specs.reference.layers import Layers

#: Sizes of the block that these criteria are tried with: features, heads, hidden.
SIZES = (12, 3, 20)
LENGTH = 6


def _call(layers: Layers, layer: Any, x: Any, *padding: Any) -> Any:
    (returned,) = layers.proxy.each([(layer, (x, *padding))])
    return returned["out"]


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Block the future inside the block: row i attends to 0 … i when causal is True.",
    earns_with="definition",
)
def causal_perturbation(layers: Layers, draw: Draw, judge: Judge):
    """Changing position j moves rows ≥ j and no row before it; with causal=False, all rows.

    A block that is made without ``causal`` is causal.
    """
    for is_causal, said in ((True, (True,)), (True, ()), (False, (False,))):
        layer = layers.proxy.drawn(draw, *SIZES, *said)
        x = draw.normal(2, LENGTH, SIZES[0], dtype="f4")
        calls = [x]
        for place in range(1, LENGTH):
            changed = x.copy()
            changed[:, place] = draw.normal(2, SIZES[0], scale=3.0, dtype="f4")
            calls.append(changed)
        outs = [
            judge.finite(judge.shape(one["out"], x.shape, "out"), "out").values
            for one in layers.proxy.each((layer, (array,)) for array in calls)
        ]
        own = layers.own(outs[0], layer, (x,))
        for place, out in enumerate(outs[1:], start=1):
            past = (slice(None), slice(0, place))
            if is_causal:
                before = Tensor.of(out[past])
                judge.close(before, own.at(past), f"out before position {place}")
            seeing = np.abs(out - outs[0])[:, place if is_causal else 0 :].max(-1)
            blind = int((seeing < 1e-6).sum())
            judge.require(blind == 0, f"{blind} rows do not see position {place}")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Mask the keys that are padding, for all queries and heads: padding_mask[:, None, None].",
    earns_with="definition",
)
def padding(layers: Layers, draw: Draw, judge: Judge):
    """Real positions give what they give without the padding, when nothing is causal."""
    _judge_padding(layers, draw, judge, is_causal=False)


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="A key is visible when the causal and the padding mask both allow it: combine with &.",
    earns_with="definition",
)
def mask_combination(layers: Layers, draw: Draw, judge: Judge):
    """Causal and padding masks hold together: real positions ignore padding and the future.

    Padding lies anywhere, at the front too, where the causal mask alone would not hide it.
    """
    _judge_padding(layers, draw, judge, is_causal=True)


def _judge_padding(layers: Layers, draw: Draw, judge: Judge, *, is_causal: bool) -> None:
    layer = layers.proxy.drawn(draw, *SIZES, is_causal)
    x = draw.normal(3, LENGTH, SIZES[0], dtype="f4")
    real = np.ones((3, LENGTH), dtype=bool)
    real[0, -2:] = real[1, :2] = False
    real[2, draw.permutation(LENGTH)[:3]] = False
    shorter = [x[item : item + 1, real[item]] for item in range(3)]
    whole, *alone = layers.proxy.each(
        [(layer, (x, real)), *((layer, (array,)) for array in shorter)]
    )
    out = judge.shape(whole["out"], x.shape, "out").values
    for item, (returned, array) in enumerate(zip(alone, shorter, strict=True)):
        own = judge.finite(judge.shape(returned["out"], array.shape, "out"), "out without padding")
        expected = layers.own(own.values, layer, (array,))
        part = Tensor.of(np.ascontiguousarray(out[item : item + 1, real[item]]))
        judge.close(part, expected, f"out of the real positions of item {item}")


@criterion(
    facet=Facet.STABILITY,
    stage=Stage.MASK,
    hint="A query that sees no key must not give NaN: fill with a finite number, or zero its "
    "weights with where after a safe softmax.",
    earns_with="definition",
    question="A text is padded in front and the block is causal. Which rows see no key, and where "
    "does their NaN go in the next block?",
    answer="The padded ones. NaN · 0 is NaN, so as keys and values they spoil every row of the item.",
)
def fully_masked_row(layers: Layers, draw: Draw, judge: Judge):
    """Rows that see no key give finite numbers and gradients, through two blocks.

    Padding in front of a causal text makes such rows; one item is padding throughout.
    """
    first, second = (layers.proxy.drawn(draw, *SIZES, True) for _ in range(2))
    x = draw.normal(3, LENGTH, SIZES[0], scale=4.0, dtype="f4")
    real = np.ones((3, LENGTH), dtype=bool)
    real[0, :2] = real[2] = False
    hidden = judge.finite(judge.shape(_call(layers, first, x, real), x.shape, "out"), "out").values
    out = judge.shape(_call(layers, second, hidden, real), x.shape, "out")
    judge.finite(out, "out of a second block")
    judge.close(out, layers.expected(second, (hidden, real)), "out of a second block")
    cotangent = draw.normal(*x.shape) * real[..., None]
    slope = layers.proxy.gradients(first, (x, real), cotangent.astype(np.float32))
    for gradient in (*slope.arguments[:1], *slope.weights.values()):
        judge.require(gradient is not None, "no gradient reaches the input")
        judge.finite(gradient, "a gradient")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="x = x + attention(norm1(x)), then x = x + feed_forward(norm2(x)): add to x itself, not "
    "to its norm, and give each sublayer a norm.",
    earns_with="definition",
)
def residual_and_norm(layers: Layers, draw: Draw, judge: Judge):
    """Zeroed sublayers leave the input alone, and a larger input changes what neither adds.

    Both norms learn a gain and a shift. With W_O, W_2 and their biases 0 the block is the
    identity: the residual is taken before the norm. With one of them zeroed, what the other adds
    is the same for x and for 64·x, since it sees the norm of its input.
    """
    x = draw.normal(2, LENGTH, SIZES[0], scale=4.0, dtype="f4")
    layer = layers.proxy.drawn(draw, *SIZES, True)
    bare = layer.layout.norms_without_gain
    judge.require(bare == 0, f"{bare} of 2 norms have no gain that is learned")
    full = dict(layer.weights)

    def without(*names: str) -> None:
        layer.set({**full, **{name: np.zeros_like(full[name]) for name in names}})

    without("W_O", "b_O", "W_2", "b_2")
    judge.exactly(_call(layers, layer, x), x, "out with both sublayers zeroed")
    for names, which in ((("W_2", "b_2"), "attention"), (("W_O", "b_O"), "feed-forward")):
        without(*names)
        # LayerNorm's epsilon, 1e-5 or whatever it is, is nothing beside variances of 16 and more.
        small, large = (_call(layers, layer, np.float32(factor) * x) for factor in (1, 64))
        rounding = layers.expected(layer, (64 * x,)).roundoffs
        added = judge.shape(small, x.shape, "out").values.astype(np.float64) - x
        judge.require(bool((added != 0).any()), f"the {which} sublayer adds nothing")
        judge.close(large, Expected(64 * x + added, 2 * rounding), f"64·x and what {which} adds")
