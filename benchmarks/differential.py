"""Is an edited program still right? Told by what it gives beside the program that it was.

Both get the same calls, all within the brief: ordinary and huge logits, every form of mask, rows
without an allowed key, one array given twice, arrays that are not contiguous, defaults, repeated
calls, every dtype that the brief names, gradients. No check of ours takes part in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Array = Any
Namespace = Mapping[str, Any]
#: (what was called, kind of numbers, outputs or the exception's name)
Observation = tuple[str, str, list[Array] | str]

#: Kind of numbers -> (up to this relative error it is rounding, from this one on it is wrong).
BANDS = {
    "float64": (1e-7, 1e-4),
    "float64, huge": (1e-6, 1e-2),
    "float32": (3e-5, 1e-3),
    "float32, huge": (1e-2, 1e-1),
    "half": (5e-2, 3e-1),
    "exact": (0.0, 0.0),
}
SHAPES = ((2, 5, 7, 6, 9), (2, 6, 6, 4, 4), (1, 1, 3, 2, 2), (3, 4, 2, 8, 3))
#: In so many ways projections of one shape are exchanged before a class is called wrong.
ARRANGEMENTS = 48
ORDINARY, HUGE, ABOVE, BELOW = 1.2, 60.0, 4000.0, -4000.0


class NoSuchWayError(Exception):
    """All ways to arrange the weights have been tried."""


def truth(name: str, original: Namespace, mutant: Namespace) -> str:
    """Return "right", "wrong", "raises" where ordinary calls do, or "unclear"."""
    wanted = list(_observe(name, original, 0))
    verdicts = []
    for arrangement in range(ARRANGEMENTS if name in CLASSES else 1):
        try:
            verdicts.append(_compared(wanted, _observe(name, mutant, arrangement, original)))
        except NoSuchWayError:
            break
        if verdicts[-1] in ("right", "raises"):
            return verdicts[-1]
    return "unclear" if "unclear" in verdicts else "wrong"


def _compared(wanted: Sequence[Observation], found: Iterable[Observation]) -> str:
    unclear = False
    count = 0
    for (_, kind, outs), (_, _, mutated) in zip(wanted, found, strict=False):
        count += 1
        if isinstance(outs, str) or isinstance(mutated, str):
            if isinstance(outs, str) and isinstance(mutated, str):
                continue
            return "raises" if count == 1 else "wrong"
        if len(outs) != len(mutated):
            return "wrong"
        lowest, highest = BANDS[kind]
        for one, other in zip(outs, mutated, strict=True):
            if one.shape != other.shape or not np.isfinite(other).all():
                return "wrong"
            error = np.abs(one - other).max(initial=0) / max(1.0, np.abs(one).max(initial=0))
            if error > highest:
                return "wrong"
            unclear |= error > lowest
    return "unclear" if unclear or count < len(wanted) else "right"


def _observe(
    name: str, program: Namespace, arrangement: int, original: Namespace | None = None
) -> Iterator[Observation]:
    draw = np.random.default_rng(7)
    if name in FUNCTIONS:
        yield from FUNCTIONS[name](program, draw)
        return
    for observe, made_of in CLASSES[name][1]:
        class_name = CLASSES[name][0]
        try:
            model = _made(program, class_name, made_of, original, arrangement)
        except NoSuchWayError:
            raise
        except Exception as error:
            yield str(made_of), "exact", type(error).__name__
            continue
        yield from observe(model, np.random.default_rng(7), made_of)
    yield from _refusals(name, program)


def _seen(call: Callable[[], Any]) -> list[Array] | str:
    """Return what a call gives as float64 arrays, or the name of what it raises."""
    try:
        outs = call()
        outs = outs if isinstance(outs, (tuple, list)) else (outs,)
        return [_array(out) for out in outs]
    except Exception as error:
        return type(error).__name__


def _array(out: Any) -> Array:
    if hasattr(out, "detach"):
        out = out.detach().double().numpy()
    return np.asarray(out, dtype=np.float64)


# --- attention as a function ---------------------------------------------------------------------


def _logits(draw: Any, leading: tuple[int, ...], shape: Sequence[int], size: float) -> list[Array]:
    """Draw Q, K and V; with a size of thousands all logits of a row lie there."""
    _, queries, keys, width, values = shape
    factor = size if 0 < size < 1000 else ORDINARY
    query = draw.normal(size=(*leading, queries, width)) * factor**0.5
    key = draw.normal(size=(*leading, keys, width)) * factor**0.5
    if abs(size) >= 1000:
        key[..., 0], query[..., 0] = 4, size / 4 * width**0.5
    return [query, key, draw.normal(size=(*leading, keys, values))]


def _masks(draw: Any, leading: tuple[int, ...], queries: int, keys: int) -> list[Array]:
    """Draw a mask of every form, in which each row has a key; the last has a row without."""
    ones = (1,) * (len(leading) - 1)
    forms = [
        (queries, keys),
        (leading[0], *ones, 1, keys),
        (leading[0], *ones, queries, keys),
        (*leading, queries, keys),
    ]
    masks = [draw.random(form) < 0.6 for form in dict.fromkeys(forms)]
    for mask in masks:
        mask[..., 0] |= ~mask.any(-1)
    dead = masks[-1].copy()
    dead[0, ..., 0, :] = False
    return [*masks, dead]


def _functions_of_attention(
    attention: Callable[..., Any], draw: Any, heads: tuple[int, ...], convert: Any, kind: str
) -> Iterator[Observation]:
    for size, shape in itertools.product((ORDINARY, HUGE, ABOVE, BELOW), SHAPES):
        leading = (shape[0], *heads)
        given = [convert(array) for array in _logits(draw, leading, shape, size)]
        numbers = kind if size == ORDINARY else f"{kind}, huge"
        before = [_array(array) for array in given]
        yield "plain", numbers, _seen(lambda given=given: attention(*given))
        masks = _masks(draw, leading, *shape[1:3])
        for mask in masks:
            live = np.broadcast_to(mask, (*leading, *shape[1:3])).any(-1)
            outs = _seen(lambda given=given, mask=mask: attention(*given, convert(mask)))
            if not isinstance(outs, str) and all(np.isfinite(out).all() for out in outs):
                outs = [
                    out * live[..., None] if out.shape[:-1] == live.shape else out for out in outs
                ]
            yield "masked", numbers, outs
        yield "again", numbers, _seen(lambda given=given: attention(*given))
        yield "untouched", "exact", [_array(a) - b for a, b in zip(given, before, strict=True)]
    leading = (2, *heads)
    square = _logits(draw, leading, SHAPES[1], ORDINARY)
    x = convert(square[0])
    yield "one array", kind, _seen(lambda: attention(x, x, x))
    yield "Q is K", kind, _seen(lambda: attention(x, x, convert(square[2])))
    turned = [convert(array.swapaxes(-1, -2).copy()).swapaxes(-1, -2) for array in square]
    yield "strided", kind, _seen(lambda: attention(*turned))


def _numpy_attention(program: Namespace, draw: Any) -> Iterator[Observation]:
    yield from _functions_of_attention(
        program["attention"], draw, (), lambda a: a.copy(), "float64"
    )
    softmax = program["softmax"]
    for shape in ((5,), (3, 4), (2, 3, 4), (2, 3, 4, 5)):
        for size in (1.0, 3000.0):
            x = draw.normal(size=shape) * size
            kept = x.copy()
            yield "softmax", "float64, huge", _seen(lambda x=x: softmax(x))
            for axis in range(-len(shape), len(shape)):
                yield "softmax", "float64, huge", _seen(lambda x=x, axis=axis: softmax(x, axis))
                yield (
                    "softmax",
                    "float64, huge",
                    _seen(lambda x=x, axis=axis: softmax(x, axis=axis)),
                )
            yield "softmax", "exact", [x - kept]

    def mask_of(name: str, *given: Any) -> list[Array] | str:
        def call() -> list[Array]:
            mask = np.asarray(program[name](*given))
            return [mask, mask.dtype == bool]

        return _seen(call)

    for length in (1, 2, 5, 8):
        yield "causal", "exact", mask_of("causal_mask", length)
    for lengths, most in (((1, 3, 5), 5), ((0, 2), 4), ((4,), 6)):
        yield "padding", "exact", mask_of("padding_mask", np.array(lengths), most)
    for shape, count in (((2, 5, 12), 3), ((2, 4, 8), 2), ((3, 3, 9), 3), ((1, 2, 4), 1)):
        x = draw.normal(size=shape)
        y = x.reshape(*shape[:2], count, -1).swapaxes(1, 2).copy()
        yield "split", "exact", _seen(lambda x=x, count=count: program["split_heads"](x, count))
        yield "merge", "exact", _seen(lambda y=y: program["merge_heads"](y))
    yield "split", "exact", _seen(lambda: program["split_heads"](np.ones((2, 3, 10)), 4))
    for length, width in ((1, 2), (6, 4), (40, 16), (7, 10)):
        encode = program["positional_encoding"]
        yield "pe", "float64", _seen(lambda a=length, b=width, f=encode: f(a, b))


def _online(program: Namespace, draw: Any) -> Iterator[Observation]:
    attention = program["attention"]
    for size in (3, 1, 2, 4, 7, 20):

        def in_blocks(q: Array, k: Array, v: Array, *mask: Array, size: int = size) -> Any:
            return attention(q, k, v, size, *mask)

        yield from _functions_of_attention(in_blocks, draw, (), lambda a: a.copy(), "float64")


def _positional(program: Namespace, draw: Any) -> Iterator[Observation]:
    for length, width in ((6, 4), (1, 2), (40, 16), (7, 10), (300, 64)):
        yield "pe", "float64", _seen(lambda a=length, b=width: program["sinusoidal"](a, b))
    for shape in ((5, 4), (2, 6, 8), (2, 3, 7, 10), (1, 2)):
        x, positions = draw.normal(size=shape), draw.permutation(50)[: shape[-2]]
        kept = x.copy()
        yield "rotary", "float64", _seen(lambda x=x, p=positions: program["rotary"](x, p))
        yield "rotary", "exact", [x - kept]
    for heads, length in ((1, 4), (2, 5), (4, 3), (8, 6), (16, 4), (32, 3), (64, 2)):

        def lower(heads: int = heads, length: int = length) -> Array:
            return np.where(np.tri(length, dtype=bool), program["alibi_bias"](heads, length), 0.0)

        yield "alibi", "float64", _seen(lower)


def _sdpa(program: Namespace, draw: Any) -> Iterator[Observation]:
    import torch

    function = program["scaled_dot_product_attention"]
    for dtype, kind in ((torch.float64, "float64"), (torch.float32, "float32")):

        def convert(array: Array, dtype: Any = dtype) -> Any:
            tensor = torch.tensor(array)
            return tensor if array.dtype == bool else tensor.to(dtype)

        yield from _functions_of_attention(function, draw, (3,), convert, kind)
        shape = SHAPES[0]
        given = [convert(array) for array in _logits(draw, (2, 3), shape, ORDINARY)]
        yield (
            "dtype",
            "exact",
            _seen(lambda g=given, t=dtype: [o.dtype == t for o in function(*g)[:1]]),
        )
        mask = torch.tensor(draw.random((2, 1, 5, 7)) < 0.7)
        mask[..., 0] = True
        yield "whole numbers", kind, _seen(lambda g=given, m=mask: function(*g, m.long()))
        bias = torch.tensor(draw.normal(size=(2, 3, 5, 7))).to(dtype)
        yield "added", kind, _seen(lambda g=given, b=bias: function(*g, b))
        for options in ((0.0, True), (0.5, False), (0.0, False)):
            yield "no dropout", kind, _seen(lambda g=given, o=options: function(*g, None, *o))
        for options in ((0.3, True), (0.3,)):
            yield "dropout", "float32", _seen(lambda g=given, o=options: _dropout(function, g, *o))
        yield "gradients", kind, _seen(lambda g=given, m=mask: _gradients(function, g, m))
        dead = mask.clone()
        dead[0, :, 1] = False
        yield "gradients", kind, _seen(lambda g=given, m=dead: _gradients(function, g, m))
    for dtype in (torch.float16, torch.bfloat16):
        given = [torch.tensor(a).to(dtype) for a in _logits(draw, (2, 3), SHAPES[0], ORDINARY)]
        yield "half", "half", _seen(lambda g=given, m=mask: function(*g, m)[0])
        yield "half", "exact", _seen(lambda g=given, m=mask, t=dtype: function(*g, m)[0].dtype == t)


def _dropout(function: Callable[..., Any], given: Sequence[Any], *options: Any) -> list[Array]:
    """Return what is the same for all right dropouts: rate, factor, and where it falls, roughly."""
    import torch

    torch.manual_seed(0)
    query, key, _ = (torch.cat([a] * 4, -2) for a in given)
    value = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1).contiguous()
    plain = function(query, key, value, None, 0.0, False)[0]
    runs = torch.stack([function(query, key, value, None, *options)[0] for _ in range(10)])
    kept = (runs != 0).double()
    ratio = torch.where(runs != 0, runs / plain, torch.nan).nanmedian()
    spread = torch.stack([kept.mean(axis).std() > 1e-6 for axis in range(5)]).double()
    patterns = torch.stack([(kept.amax(axis) != kept.amin(axis)).any() for axis in range(5)])
    rate = (kept.mean() * 40).round() / 40
    return [rate, ratio, spread, patterns.double()]


def _gradients(function: Callable[..., Any], given: Sequence[Any], mask: Any) -> list[Array]:
    import torch

    leaves = [array.clone().requires_grad_() for array in given]
    out = function(*leaves, mask)
    out = out[0] if isinstance(out, tuple) else out
    live = mask.any(-1, keepdim=True)
    cotangent = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape)
    return list(torch.autograd.grad((out * cotangent * live).sum(), leaves))


# --- classes -------------------------------------------------------------------------------------


def _made(
    program: Namespace, class_name: str, made_of: Any, original: Namespace | None, arrangement: int
) -> Any:
    """Make a model with weights of real size, arranged in the Nth way as those of the original.

    Which projection is which is for its author to choose, so that Q, K, V and the output may
    change places.

    Raises:
        NoSuchWayError: there are no so many ways, or no way at all.
    """
    import torch

    model = program[class_name](*made_of)
    torch.manual_seed(3)
    if original is None:
        for name, parameter in model.named_parameters():
            gain = parameter.ndim == 1 and "norm" in name.lower() and name.endswith("weight")
            parameter.data = torch.randn_like(parameter) * 0.4 + gain
        return model.eval()
    state = _made(original, class_name, made_of, None, 0).state_dict()
    own = model.state_dict()
    ways = list(itertools.islice(_ways(state, made_of[0]), arrangement + 1))
    if len(ways) <= arrangement:
        raise NoSuchWayError
    for name, tensor in own.items():
        other = ways[arrangement].get(name)
        if other is not None and other.shape == tensor.shape:
            tensor.copy_(other)
        elif name.endswith("bias"):
            tensor.zero_()  # one that the original does without
        else:
            raise RuntimeError("other parameters")
    return model.eval()


def _ways(state: Mapping[str, Any], width: int) -> Iterator[dict[str, Any]]:
    """Yield the state with projections of one shape exchanged, first as it is."""
    import torch

    groups: dict[Any, list[str]] = {}
    for name, tensor in state.items():
        stem = name.rpartition(".")[0] or name
        shape = tuple(tensor.shape) if tensor.ndim == 2 else ()
        if shape and shape[0] == shape[1]:
            groups.setdefault(shape, []).append(stem if name.endswith(".weight") else name)
    stems = max(groups.values(), key=len, default=[])
    for order in itertools.permutations(stems):
        moved = dict(state)
        for stem, source in zip(stems, order, strict=True):
            for name in state:
                if name == stem or name.startswith(f"{stem}."):
                    moved[name] = state[source + name[len(stem) :]]
        for third in itertools.permutations(range(3)):
            fused = dict(moved)
            for name, tensor in moved.items():
                if tensor.shape[0] == 3 * width and third != (0, 1, 2):
                    parts = tensor.chunk(3)
                    fused[name] = torch.cat([parts[index] for index in third])
            yield fused
            if not any(tensor.shape[0] == 3 * width for tensor in state.values() if tensor.ndim):
                break


def _layer(
    inputs: Callable[[Any, Any, float], list[Array]], blocked: bool, heads: bool
) -> Callable[[Any, Any, Any], Iterator[Observation]]:
    """Make the observations of a layer over sources and a mask."""

    def observe(model: Any, draw: Any, made_of: Any) -> Iterator[Observation]:
        import torch

        model = model.double()
        for size in (1.0, 30.0):
            given = [torch.tensor(array) for array in inputs(draw, made_of, size)]
            kind = "float64" if size == 1.0 else "float64, huge"
            before = [array.clone() for array in given]
            yield "plain", kind, _seen(lambda g=given: model(*g))
            queries, keys = given[0].shape[1], given[1].shape[1]
            leading = (2, made_of[1]) if heads else (2,)
            for mask in _masks(draw, leading, queries, keys):
                if not heads:
                    mask = np.broadcast_to(mask, (2, queries, keys)).copy()  # noqa: PLW2901
                tensor = torch.tensor(~mask if blocked else mask)
                live = np.broadcast_to(mask, (*leading, queries, keys)).any(-1)
                live = live.all(1) if heads else live
                outs = _seen(lambda g=given, m=tensor: model(*g, m))
                if not isinstance(outs, str) and all(np.isfinite(out).all() for out in outs):
                    outs = [out * live[..., None] for out in outs]
                yield "masked", kind, outs
                if size == 1.0:
                    flat = torch.tensor(live)[..., None]
                    yield (
                        "gradients",
                        kind,
                        _seen(lambda g=given, m=tensor, f=flat: _weight_gradients(model, g, m, f)),
                    )
            same = given[0]
            yield "one tensor", kind, _seen(lambda g=given, s=same: model(*[s] * len(g)))
            yield "again", kind, _seen(lambda g=given: model(*g))
            turned = [a.transpose(1, 2).contiguous().transpose(1, 2) for a in given]
            yield "strided", kind, _seen(lambda t=turned: model(*t))
            yield "untouched", "exact", [_array(a - b) for a, b in zip(given, before, strict=True)]
        yield from _precisions(model, [torch.tensor(a) for a in inputs(draw, made_of, 1.0)])

    return observe


def _precisions(model: Any, given: Sequence[Any]) -> Iterator[Observation]:
    import torch

    for dtype, kind in ((torch.float32, "float32"), (torch.float16, "half")):
        cast = [array.to(dtype) for array in given]
        model = model.to(dtype)
        yield kind, kind, _seen(lambda m=model, c=cast: m(*c))
        yield kind, "exact", _seen(lambda m=model, c=cast, t=dtype: _first(m(*c)).dtype == t)


def _first(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


def _weight_gradients(model: Any, given: Sequence[Any], mask: Any, live: Any) -> list[Array]:
    import torch

    leaves = [array.clone().requires_grad_() for array in given]
    leaves += [parameter for parameter in model.parameters() if parameter.requires_grad]
    out = model(*leaves[: len(given)], *(() if mask is None else (mask,)))
    cotangent = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape)
    grads = torch.autograd.grad((out * cotangent * live).sum(), leaves)
    # Projections may have changed places: of all parameters together the norm stays the same.
    norm = torch.stack([gradient.square().sum() for gradient in grads[len(given) :]]).sum().sqrt()
    return [*grads[: len(given)], norm]


def _three_sources(draw: Any, made_of: Any, size: float) -> list[Array]:
    shapes = ((2, 5, made_of[0]), (2, 7, made_of[0]), (2, 7, made_of[0]))
    return [draw.normal(size=shape) * size for shape in shapes]


def _two_sources(draw: Any, made_of: Any, size: float) -> list[Array]:
    return _three_sources(draw, made_of, size)[:2]


def _block(model: Any, draw: Any, made_of: Any) -> Iterator[Observation]:
    import torch

    model = model.double()
    for length, size in ((6, 1.0), (1, 1.0), (4, 1.0), (5, 40.0)):
        x = torch.tensor(draw.normal(size=(3, length, made_of[0]))) * size
        kind = "float64" if size == 1.0 else "float64, huge"
        kept = x.clone()
        yield "plain", kind, _seen(lambda x=x: model(x))
        real = torch.tensor(np.arange(length) < np.array([[length], [max(1, length - 2)], [1]]))
        for mask in (real, real.flip(1), torch.zeros_like(real)):
            live = mask[..., None]
            yield "padded", kind, _seen(lambda x=x, m=mask, k=live: _finite(model(x, m)) * k)
            if size == 1.0:
                yield (
                    "gradients",
                    kind,
                    _seen(lambda x=x, m=mask, k=live: _weight_gradients(model, [x], m, k)),
                )
        yield "untouched", "exact", [_array(x - kept)]
    yield from _precisions(model, [torch.tensor(draw.normal(size=(2, 5, made_of[0])))])


def _finite(out: Any) -> Any:
    if not out.isfinite().all():
        raise ValueError("not finite")
    return out


def _cache(model: Any, draw: Any, made_of: Any) -> Iterator[Observation]:
    import torch

    model = model.double()
    for length, size in ((6, 1.0), (5, 30.0)):
        x = torch.tensor(draw.normal(size=(2, length, made_of[0]))) * size
        kind = "float64" if size == 1.0 else "float64, huge"
        for chunks in (
            (length,),
            (1,) * length,
            (2, length - 2),
            (3, 1, length - 4),
            (length - 1, 1),
        ):
            yield "chunks", kind, _seen(lambda x=x, c=chunks: _in_chunks(model, x, c))
        yield (
            "gradients",
            kind,
            _seen(
                lambda x=x: _weight_gradients(
                    _first_output(model), [x], None, torch.ones(1).double()
                )
            ),
        )
    x = torch.tensor(draw.normal(size=(1, 4, made_of[0])))
    yield "another text", "float64", _seen(lambda: _in_chunks(model, x, (2, 2)))


def _first_output(model: Any) -> Any:
    """Wrap a model so that it returns its first output only."""
    import torch

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, x: Any) -> Any:
            return self.inner(x)[0]

    return First()


def _in_chunks(model: Any, x: Any, sizes: Sequence[int]) -> Any:
    import torch

    outs, cache = [], None
    for chunk in torch.split(x, list(sizes), 1):
        out, cache = model(chunk, cache)
        outs.append(out)
    return torch.cat(outs, 1)


def _refusals(name: str, program: Namespace) -> Iterator[Observation]:
    """See whether widths are refused that the heads do not divide."""
    class_name = CLASSES[name][0]
    if name == "torch_multi_head":
        yield "refused", "exact", _seen(lambda: [program[class_name](10, 4) is None])


FUNCTIONS = {
    "numpy_attention": _numpy_attention,
    "online_softmax": _online,
    "positional_encoding": _positional,
    "torch_sdpa": _sdpa,
}
_MULTI = _layer(_three_sources, blocked=False, heads=True)
_SINGLE = _layer(_two_sources, blocked=True, heads=False)
CLASSES: dict[str, tuple[str, list[tuple[Any, tuple[Any, ...]]]]] = {
    "torch_multi_head": (
        "MultiHeadAttention",
        [(_MULTI, (12, 3)), (_MULTI, (8, 2)), (_MULTI, (4, 4))],
    ),
    "torch_single_head": (
        "OneHeadAttention",
        [(_SINGLE, (12, 5, 7)), (_SINGLE, (6, 6, 6)), (_SINGLE, (4, 3, 2))],
    ),
    "transformer_block": (
        "TransformerBlock",
        [(_block, (12, 3, 20)), (_block, (8, 2, 8, False)), (_block, (4, 4, 6, True))],
    ),
    "kv_cache": ("CachedAttention", [(_cache, (12, 3)), (_cache, (8, 2)), (_cache, (4, 4))]),
}
