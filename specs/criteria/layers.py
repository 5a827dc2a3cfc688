"""What a class must be that attends between learned projections."""

from __future__ import annotations

import numpy as np

from harness import (
    CheckFailed,
    Draw,
    Expected,
    Facet,
    Judge,
    NotOffered,
    Stage,
    Tensor,
    criterion,
)
from specs.reference import heads as reference_heads
from specs.reference.layers import Layers

NAMES = {"Q": "queries", "K": "keys", "V": "values", "O": "output"}


@criterion(
    facet=Facet.SHAPE,
    hint="Return one row per query: the first source gives the length, the projections the width. "
    "The batch comes first.",
    earns_with="definition",
)
def output_shape(layers: Layers, draw: Draw, judge: Judge):
    """The output is batch first, as long as the queries and as wide as the brief says."""
    drawn = layers.drawn(draw, smallest=1)
    for returned, call in zip(layers.proxy.each(drawn), drawn, strict=True):
        judge.shape(returned["out"], layers.expected(*call).values.shape, "out")


@criterion(
    facet=Facet.NUMERIC,
    hint="Project, attend by softmax(QKᵀ/√d_k) V, and project the result where the brief asks "
    "for it.",
)
def definition(layers: Layers, draw: Draw, judge: Judge):
    """With the same weights, the output is the reference's.

    The submission's own parameters are found, set to 0.4 · N(0, 1) and given to the reference.
    """
    drawn = [*layers.drawn(draw), *layers.cubes(draw)]
    for returned, call in zip(layers.proxy.each(drawn), drawn, strict=True):
        judge.close(returned["out"], layers.expected(*call), "out")


@criterion(
    of_torch=True,
    facet=Facet.NUMERIC,
    hint="Keep the graph whole from the inputs and every parameter to the output: no .detach(), "
    ".data, .item() or numpy on the way.",
    earns_with="definition",
)
def gradients(layers: Layers, draw: Draw, judge: Judge):
    """The gradients of the inputs and of every parameter are the reference's.

    In float64, where rounding (1e-16) is far from any mistake: every gradient is a sum of
    products, whose error is bounded by the largest gradient there is times the number of terms,
    here at most 2¹².
    """
    for layer, arguments in layers.one_by_one(draw, masked=(False, True), smallest=1):
        layer.cast("f8")
        given = _exact(arguments)
        expected = layers.expected(layer, given)
        cotangent = draw.normal(*expected.values.shape)
        if expected.compared is not None:
            cotangent = cotangent * expected.compared
        slope = layers.proxy.gradients(layer, given, cotangent)
        of_inputs, of_weights = layers.gradients(layer, given, cotangent)
        largest = max(np.abs(g).max() for g in (*of_inputs, *of_weights.values()) if g is not None)
        for place, found in enumerate(slope.arguments):
            judge.require(found is not None, f"no gradient reaches input {place}")
            total = sum(of_inputs[n] for n in _same(given, place))
            judge.close(found, Expected(total, 4096 * largest), f"gradient of input {place}")
        for name, right in of_weights.items():
            if right is None or not _is_held(layer, name):
                continue
            judge.require(name in slope.weights, f"no gradient reaches {name}")
            judge.close(slope.weights[name], Expected(right, 4096 * largest), f"gradient of {name}")


def _exact(arguments):
    """Return arguments in float64; what is one array stays one."""
    exact = {id(a): a.astype(np.float64) if a.dtype.kind == "f" else a for a in arguments}
    return tuple(exact[id(a)] for a in arguments)


def _same(arguments, place: int) -> list[int]:
    """Return the places of the array at ``place``: its gradient is the sum over all of them."""
    return [n for n, array in enumerate(arguments) if array is arguments[place]]


def _is_held(layer, name: str) -> bool:
    return any(name in slot.holds for slot in layer.layout.slots)


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.PROJECTION,
    hint="Make one projection each for Q, K and V in __init__, as nn.Linear or nn.Parameter, so "
    "that the module registers them and an optimizer sees them.",
    earns_with="definition",
)
def separate_projections(layers: Layers, draw: Draw, judge: Judge):
    """Q, K and V have projections of their own: made once, registered, trained."""
    layer, arguments = next(layers.one_by_one(draw, smallest=1))
    layout = layer.layout
    for copy, original in layout.shared.items():
        judge.require(False, f"one projection serves {NAMES[original]} and {NAMES[copy]}")
    judge.require(
        not set(layout.missing) & set("QKV"),
        f"no parameter projects the {' and '.join(NAMES[m] for m in layout.missing if m in NAMES)}",
    )
    judge.require(
        not layer.late,
        f"{layer.spell(layer.late)}: made in the first call; an optimizer made before it never "
        "sees them",
    )
    tuple(layers.proxy.each([(layer, arguments)]))  # it is called
    registered = layers.proxy.registered(layer)
    loose = [name for slot in layout.slots for name in slot.group.names if name not in registered]
    judge.require(not loose, f"{layer.spell(loose)}: not registered with the module")
    judge.require(
        layers.proxy.names_now(layer) == layer.names,
        "the module has other parameters after a call than before it",
    )
    cotangent = draw.normal(*layers.expected(layer, arguments).values.shape, dtype="f4")
    slope = layers.proxy.gradients(layer, arguments, cotangent)
    for name in "QKV":
        gradient = slope.weights.get(f"W_{name}")
        judge.require(
            gradient is not None and bool((gradient.values != 0).any()),
            f"the projection of the {NAMES[name]} has no influence that could be trained",
        )


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.PROJECTION,
    hint="Concatenate the heads, then multiply by W_O once: it mixes what the heads have found.",
    earns_with="definition",
)
def output_projection(layers: Layers, draw: Draw, judge: Judge):
    """The output projection is there, and is applied after the heads are put together."""
    for layer, arguments in layers.one_by_one(draw, smallest=1):
        if "O" in layer.layout.missing:
            raise CheckFailed(f"there is no output projection among {layer.spell(layer.names)}")
        weights = dict(layer.weights)
        width = len(weights["b_O"])
        plain = {**weights, "W_O": np.eye(width), "b_O": np.zeros(width)}
        (mixed,) = layers.proxy.each([(layer, arguments)])
        expected = layers.expected(layer, arguments)
        layer.set(plain)
        (merged,) = layers.proxy.each([(layer, arguments)])
        heads = judge.shape(merged["out"], expected.values.shape, "out").values
        right = heads.astype(np.float64) @ weights["W_O"] + weights["b_O"]
        judge.close(mixed["out"], Expected(right, 4 * expected.roundoffs), "out")


@criterion(
    facet=Facet.SHAPE,
    hint="Take Q from the first source, K and V from the other: the output is as long as the "
    "first. With the same array twice it is self-attention.",
    earns_with="definition",
)
def self_and_cross(layers: Layers, draw: Draw, judge: Judge):
    """One source or two: querying with some positions gives the rows of these positions.

    Positions are chosen with repetition, so that a layer which ignores the other source shows.
    """
    if layers.proxy.sources == 1:
        raise NotOffered("second source")
    for made_of in layers.sizes[1:]:
        layer = layers.proxy.drawn(draw, *made_of)
        whole, *_ = layers.given(draw, made_of)
        length = whole.shape[1]
        shorter, equal = [0, 0, length - 1], [*draw.permutation(length)[1:], 1]
        chosen = [shorter, equal, [0, 0, *range(length)]]
        calls = [(whole, *layers.other_sources(whole))]
        calls += [(whole[:, rows], *layers.other_sources(whole)) for rows in chosen]
        alone, *crossed = layers.proxy.each((layer, arguments) for arguments in calls)
        expected = layers.expected(layer, calls[0])
        out = judge.shape(alone["out"], expected.values.shape, "out of self-attention")
        own = layers.own(out.values, layer, calls[0])
        for returned, rows in zip(crossed, chosen, strict=True):
            judge.close(returned["out"], own.at((slice(None), rows)), "out for chosen queries")


@criterion(
    facet=Facet.SHAPE,
    stage=Stage.HEADS,
    hint="reshape(B, T, h, D // h), then transpose(1, 2); the way back in the opposite order. "
    "A reshape alone keeps the shape and mixes the positions.",
    earns_with="definition",
)
def head_split(layers: Layers, draw: Draw, judge: Judge):
    """Head i is the i-th slice of the features, on the way in and on the way out.

    With projections that change nothing: adding a constant to a feature of V adds it to the same
    feature of the output, and changing a slice of Q changes that slice of the output only. A
    width that the heads do not divide is refused with any exception.
    """
    for total, count in ((24, 3), (12, 3)):
        layer = layers.proxy.make(total, count)
        layer.set(_identity(layers, total, count))
        width = total // count
        query, key, value = (draw.normal(2, n, total, dtype="f4") for n in (5, 7, 7))
        raised = [value + 64 * (np.arange(total) == f).astype("f4") for f in range(total)]
        turned = [query.copy() for _ in range(count)]
        for head, array in enumerate(turned):
            array[..., head * width : (head + 1) * width] *= -1.5
        calls = [(query, key, v) for v in (value, *raised)] + [(q, key, value) for q in turned]
        outs = [
            judge.finite(judge.shape(one["out"], query.shape, "out"), "out").values
            for one in layers.proxy.each((layer, arguments) for arguments in calls)
        ]
        for feature, out in enumerate(outs[1 : total + 1]):
            step = 64.0 * (np.arange(total) == feature) + np.zeros_like(out)
            moved = Tensor.of((out - outs[0]).astype("f4"))
            judge.close(moved, Expected(step, 1e5), f"what feature {feature} of V adds to out")
        for head, out in enumerate(outs[total + 1 :]):
            _only_slice(judge, out - outs[0], head, width, f"slice {head} of Q")
    x = draw.normal(2, 3, 10, dtype="f4")
    accepted = layers.proxy.accepts((10, 4), (x, x, x))
    judge.require(not accepted, f"{layers.proxy.name}(10, 4) works, though 4 does not divide 10")


def _identity(layers: Layers, total: int, count: int) -> dict[str, np.ndarray]:
    names = [part.name for part in layers.proxy.learned(total, count)]
    weights = {f"W_{name}": np.eye(total) for name in names}
    return weights | {f"b_{name}": np.zeros(total) for name in names}


def _only_slice(judge: Judge, moved, head: int, width: int, what: str) -> None:
    """Require every number of one head's slice to have moved, and no other."""
    apart = np.abs(reference_heads.split_heads(moved, moved.shape[-1] // width))
    others = np.delete(apart, head, axis=1)
    judge.within(
        others.max(initial=0.0),
        1e-3,
        f"changing {what} changes the output of other heads",
    )
    judge.require(apart[:, head].max() > 1e-3, f"changing {what} changes nothing")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.HEADS,
    hint="Give each head its own slice of W_Q, W_K and W_V, softmax per head, and let only W_O mix "
    "them.",
    earns_with="definition",
)
def heads_independent(layers: Layers, draw: Draw, judge: Judge):
    """A head depends on its own slice of the projections only, and one head is plain attention."""
    total, count = layers.sizes[-1]
    width = total // count
    layer = layers.proxy.drawn(draw, total, count)
    if layer.layout.per_head:
        raise CheckFailed("one small projection serves all heads, expected one per head")
    plain = {**layer.weights, "W_O": np.eye(total), "b_O": np.zeros(total)}
    arguments = layers.given(draw, (total, count))
    outs = []
    changes = [(name, head) for name in "QKV" for head in range(count)]
    for name, head in (("", 0), *changes):
        weights = {key: value.copy() for key, value in plain.items()}
        if name:
            weights[f"W_{name}"][:, head * width : (head + 1) * width] *= -1.25
        layer.set(weights)
        (returned,) = layers.proxy.each([(layer, arguments)])
        out = judge.shape(returned["out"], layers.expected(layer, arguments).values.shape, "out")
        outs.append(judge.finite(out, "out").values.astype(np.float64))
    for (name, head), out in zip(changes, outs[1:], strict=True):
        _only_slice(judge, out - outs[0], head, width, f"head {head} of W_{name}")
    single = layers.proxy.drawn(draw, width, 1)
    alone = layers.given(draw, (width, 1))
    (returned,) = layers.proxy.each([(single, alone)])
    judge.close(returned["out"], layers.expected(single, alone), "out of one head")


@criterion(
    facet=Facet.NUMERIC,
    hint="Copy the weights of an nn.MultiheadAttention and compare the outputs on small inputs.",
    earns_with="definition",
)
def multi_head_parity(layers: Layers, draw: Draw, judge: Judge):
    """The output equals nn.MultiheadAttention with the same weights, masked and not.

    The expected values are those of our float64 reference, which a test holds to
    ``nn.MultiheadAttention``.
    """
    drawn = layers.drawn(draw, masked=(False, True), smallest=1)
    seen = []
    for returned, call in zip(layers.proxy.each(drawn), drawn, strict=True):
        expected = layers.expected(*call)
        judge.close(returned["out"], expected, "out")
        seen.append((returned["out"], expected))
    judge.note_difference(seen, "nn.MultiheadAttention")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Treat the sources alike whether they are one tensor or several: no `is`, and nothing "
    "written into any of them.",
    earns_with="definition",
    question="What is self-attention, in terms of the arguments of forward?",
    answer="The same tensor for every source; the computation is the same.",
)
def self_attention(layers: Layers, draw: Draw, judge: Judge):
    """One tensor for every source gives what equal copies give, and so do its gradients."""
    layer = layers.proxy.drawn(draw, *layers.sizes[-1])
    first, *others = layers.given(draw, layers.sizes[-1])
    sources = 1 + len(layers.other_sources(first))
    masks = others[sources - 1 :]
    copies, same = (*(first.copy() for _ in range(sources)), *masks), (*(first,) * sources, *masks)
    apart, together = layers.proxy.each([(layer, copies), (layer, same)])
    shape = layers.expected(layer, copies).values.shape
    out = judge.finite(judge.shape(apart["out"], shape, "out"), "out").values
    judge.close(together["out"], layers.own(out, layer, copies), "out for one tensor")
    layer.cast("f8")
    exact = first.astype(np.float64)
    cotangent = draw.normal(*shape)
    given = (*(exact,) * sources, *masks)
    slope = layers.proxy.gradients(layer, given, cotangent)
    of_inputs, _ = layers.gradients(layer, given, cotangent)
    largest = sum(np.abs(gradient).max() for gradient in of_inputs)
    found = slope.arguments[0]
    judge.require(found is not None, "no gradient reaches the one tensor")
    judge.close(found, Expected(sum(of_inputs), 4096 * largest), "gradient of the one tensor")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Work on new tensors: no `+=`, `[mask] =` or method that ends in _ on an argument.",
    earns_with="definition",
    question="Your caller uses the same x after your forward returns. What does it hold?",
    answer="What it held before: `x += …` writes into the caller's tensor.",
)
def inputs_untouched(layers: Layers, draw: Draw, judge: Judge):
    """Arguments are left as they were."""
    for layer, arguments in layers.one_by_one(draw, masked=(False, True), smallest=1):
        returned = layers.proxy.echoing(layer, *arguments)
        for place, before in enumerate(arguments):
            after = returned.arguments_after[place : place + 1]
            same = [isinstance(a, Tensor) and np.array_equal(a.values, before) for a in after]
            judge.require(same == [True], f"argument {place} was changed by the call")


#: The largest score of a first row, which sees one key only, and of any row. A fill of -1e4 is
#: right beside the latter: exp(-1e4 + 8000) is 0.
FIRST_ROW, ANY_ROW = 2500.0, 8000.0


@criterion(
    facet=Facet.STABILITY,
    hint="Subtract each row's own maximum before exponentiating, and fill blocked scores with -inf "
    "or a number like -1e9: scores in the thousands overflow exp, and lie below -100.",
    earns_with="definition",
    question="What does exp give for a score of 1000, and what does a fill of -100 block then?",
    answer="inf, so subtract the row's maximum; and nothing: beside scores of -1000 the filled key "
    "gets all the weight.",
)
def stable_softmax(layers: Layers, draw: Draw, judge: Judge):
    """Scores in the thousands, up and down, give finite and right outputs, masked and not.

    W_Q is multiplied by a large number, and by its negative: a first row that sees one key only
    then has a score near -2,500, beside which a fill of -999 gets all the weight.
    """
    for layer, arguments in layers.one_by_one(draw, masked=(False, True), smallest=1):
        scores = np.abs(layers.scores(layer, arguments[0]))
        factor = min(FIRST_ROW / scores[..., 0, 0].max(), ANY_ROW / scores.max())
        drawn = dict(layer.weights)
        for sign in (1, -1):
            query = {name: sign * factor * drawn[name] for name in ("W_Q", "b_Q")}
            layer.set({**drawn, **query})
            (returned,) = layers.proxy.each([(layer, arguments)])
            judge.close(returned["out"], layers.expected(layer, arguments), "out for large scores")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="No state between calls, no randomness outside training, no layers made per call.",
    earns_with="definition",
)
def determinism(layers: Layers, draw: Draw, judge: Judge):
    """The same input gives the same output, whatever was computed in between."""
    calls = layers.drawn(draw, smallest=1)
    returned = layers.proxy.each((*calls, *calls))
    shapes = [layers.expected(*call).values.shape for call in calls]
    outs = [
        judge.shape(one["out"], shape, "out").values
        for one, shape in zip(returned, shapes * 2, strict=True)
    ]
    for before, after in zip(outs[: len(calls)], outs[len(calls) :], strict=True):
        moved = int((before != after).sum())
        judge.require(
            moved == 0, f"{moved} of {before.size} outputs differ between two equal calls"
        )


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Items of a batch do not see each other: keep the batch axis apart in every reshape and "
    "norm.",
    earns_with="definition",
)
def batch_independent(layers: Layers, draw: Draw, judge: Judge):
    """An item alone gives what it gives in its batch, each item with its own mask."""
    for layer, arguments in layers.one_by_one(draw, masked=(False, True), smallest=1):
        items = range(len(arguments[0]))
        alone = [tuple(array[item : item + 1] for array in arguments) for item in items]
        whole, *parts = layers.proxy.each((layer, given) for given in (arguments, *alone))
        expected = layers.expected(layer, arguments)
        out = judge.shape(whole["out"], expected.values.shape, "out")
        own = layers.own(out.values, layer, arguments)
        for item, returned in zip(items, parts, strict=True):
            judge.close(returned["out"], own.at(slice(item, item + 1)), f"out of item {item} alone")
