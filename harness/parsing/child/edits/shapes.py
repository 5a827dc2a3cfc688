"""Sizes: which name, which end of a range, which index."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from .reading import Change, Edit, Function, called, operands, quoted, targets, walk
from .scopes import Scope


def size(scope: Scope) -> Iterator[Edit]:
    """Another size of the same arrays."""
    code, sizes = scope.code, _sizes(scope)
    yield from _worked_out(scope)
    for node in scope.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in sizes:
            yield from (code.swap(node, other) for other in sizes if other != node.id)
    for node in scope.nodes:
        of_shape = isinstance(node, ast.Subscript) and _is_shape(node.value)
        of_size = called(node) in ("size",)
        if isinstance(node, ast.Subscript) and of_shape:
            at: ast.expr = node.slice
            yield from (code.swap(at, n) for n in ("-1", "-2") if n != code.text(at))
        elif isinstance(node, ast.Call) and of_size and node.args:
            at = node.args[0]
            yield from (code.swap(at, n) for n in ("-1", "-2") if n != code.text(at))


def _worked_out(scope: Scope) -> Iterator[Edit]:
    """The length in a reshape is worked out from what is reshaped."""
    for call in scope.calls:
        sizes = call.args
        known = [scope.code.text(size) for size in sizes]
        if called(call) in ("reshape", "view") and len(known) > 2 and "-1" not in known:
            edit = scope.code.swap(sizes[1], "-1")
            yield dataclasses.replace(edit, alike="length")


def _sizes(scope: Scope) -> list[str]:
    """Return names that sizes were unpacked to."""
    found: list[str] = []
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and value is not None:
            inner = value.value if isinstance(value, ast.Subscript) else value
            if _is_shape(inner) or called(inner) == "size":
                found += [name for name in targets(statement) if name not in found and name != "_"]
    return found


def _is_shape(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def room(scope: Scope) -> Iterator[Edit]:
    """An array made like another one gets the shape of the output."""
    if len(scope.arrays) < 3:
        return
    q, _, v = scope.arrays
    for call in scope.calls:
        yield from _as_wide_as_values(scope, call, v)
        if called(call) in ("zeros_like", "empty_like", "ones_like"):
            shape = f"(*{q}.shape[:-1], {v}.shape[-1])"
            new = f"{v}.new_zeros({shape})" if scope.torch else f"np.zeros({shape})"
            yield scope.code.swap(call, new)


def _as_wide_as_values(scope: Scope, call: ast.Call, v: str) -> Iterator[Edit]:
    """``np.zeros((B, T, d))`` is as wide as V, which is what is summed up in it."""
    shape = call.args[0] if call.args else None
    last = scope.products[-1] if scope.products else None
    if called(call) not in ("zeros", "empty") or last is None:
        return
    if not isinstance(shape, ast.Tuple) or len(shape.elts) < 3:
        return
    wide = scope.code.change(shape.elts[-1], f"{v}.shape[-1]")
    summed = [n for n in walk(operands(last)[-1]) if isinstance(n, ast.Name)][:1]
    what = f"{quoted(scope.code.text(call))} is as wide as `{v}`"
    yield Edit(what, (wide,))
    if summed and summed[0].id != v:
        both = sorted((wide, scope.code.change(summed[0], v)))
        yield Edit(f"`{v}` is aggregated, and {what}", tuple(both))


def bound(scope: Scope) -> Iterator[Edit]:
    """The end of a slice or range, and the diagonal of a triangle, one more or less."""
    code = scope.code
    loops = _loops(scope)
    for statement in scope.statements:  # so much is padded: nothing
        value = getattr(statement, "value", None)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
            yield code.swap(value, "0")
    for node in scope.nodes:
        if isinstance(node, ast.Call) and called(node) in ("range", "arange"):
            yield from _rounded_up(scope, node)
        elif isinstance(node, ast.Slice) and node.upper is not None:
            text = code.text(node.upper)
            ends = [f"{text} + 1", f"{text} - 1", *(f"{loop} + 1" for loop in loops)]
            yield from (code.swap(node.upper, end) for end in ends)
        elif isinstance(node, ast.Call) and called(node) in ("tril", "triu", "tri", "eye"):
            yield from _diagonal(scope, node)


def _rounded_up(scope: Scope, call: ast.Call) -> Iterator[Edit]:
    for argument in call.args:
        if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.FloorDiv):
            whole, part = scope.code.text(argument.left), scope.code.text(argument.right)
            if not part.isdigit():
                yield scope.code.swap(argument, f"({whole} + {part} - 1) // {part}")


def _diagonal(scope: Scope, call: ast.Call) -> Iterator[Edit]:
    code, word = scope.code, "diagonal" if scope.torch else "k"
    given = [k.value for k in call.keywords if k.arg in ("k", "diagonal")]
    receiver = scope.receiver(call)
    given += call.args[(0 if receiver is not None else 1) :][:1] if called(call) != "tri" else []
    for value in given:
        others = ("0", "1", "-1", *_aligned(scope, call))
        yield from (code.swap(value, n) for n in others if n != code.text(value))
    if not given:
        for number in ("1", "-1", *_aligned(scope, call)):
            new = f"{word}={number}"
            yield Edit(f"{quoted(code.text(call))} gets `{new}`", (code.argument(call, new),))


def _aligned(scope: Scope, call: ast.Call) -> list[str]:
    """Write the diagonal that ends in the last query and the last key."""
    if not scope.scores:
        return []
    ahead = f"{scope.scores}.shape[-1] - {scope.scores}.shape[-2]"
    return [f"{ahead} + 1" if called(call) == "triu" else ahead]


def triangle(scope: Scope) -> Iterator[Edit]:
    """The lower triangle where the upper one is taken, and the other way round."""
    for call in scope.calls:
        if (name := called(call)) in ("tril", "triu"):
            other = {"tril": "triu", "triu": "tril"}[name]
            _, end = scope.code.span(call.func)
            yield Edit(f"`{name}` becomes `{other}`", (Change(end - 4, end, other),))


def index(scope: Scope) -> Iterator[Edit]:
    """Another index: the loop's, a new axis in another place, or one more."""
    code = scope.code
    loops = _loops(scope)
    for node in scope.nodes:
        if not isinstance(node, ast.Subscript) or _is_shape(node.value):
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Constant) and type(part.value) is int:
                yield from (code.swap(part, loop) for loop in loops)
        texts = [code.text(part) for part in parts]
        if "None" in texts and len(texts) > 1:
            start, end = code.span(parts[0])[0], code.span(parts[-1])[1]
            place = texts.index("None")
            rest = texts[:place] + texts[place + 1 :]
            for at in range(len(texts)):
                other = [*rest[:at], "None", *rest[at:]]
                if other != texts:
                    new = ", ".join(other)
                    was = quoted(", ".join(texts))
                    yield Edit(f"the index {was} becomes `{new}`", (Change(start, end, new),))
    for statement in scope.statements:
        value = statement.value if isinstance(statement, ast.Return) else None
        if value is not None and not isinstance(value, ast.Tuple):
            text = code.text(value)
            yield Edit(f"{quoted(text)} gets an axis", (code.change(value, f"({text})[:, None]"),))


def slices(scope: Scope) -> Iterator[Edit]:
    """Another slice of those in use; a slice up to an index instead of the item there."""
    code = scope.code
    used = [node for node in scope.nodes if isinstance(node, ast.Slice)]
    texts = list(dict.fromkeys(code.text(node) for node in used))
    for node in used:
        start, end = code.span(node)
        for other in texts:
            if other != code.text(node):
                what = f"the slice {quoted(code.text(node))} becomes {quoted(other)}"
                yield Edit(what, (Change(start, end, other),))
    for item in scope.nodes:
        by_name = isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Name)
        if isinstance(item, ast.Subscript) and by_name and isinstance(item.ctx, ast.Load):
            yield code.swap(item.slice, f":{code.text(item.slice)}")


def _loops(scope: Scope) -> list[str]:
    """Return the names that loops count with."""
    return [
        inner.id
        for node in scope.nodes
        if isinstance(node, ast.For)
        for inner in walk(node.target)
        if isinstance(inner, ast.Name)
    ]


def guard(scope: Scope) -> Iterator[Edit]:
    """What does not divide evenly is refused."""
    code = scope.code
    if not isinstance(scope.node, Function):
        return
    for node in scope.binaries:
        if isinstance(node.op, ast.FloorDiv):
            whole, parts = code.text(node.left), code.text(node.right)
            if whole.isidentifier() and parts.isidentifier():
                line = f'raise ValueError(f"{{{whole}}} is not divisible by {{{parts}}}")'
                block = [f"if {whole} % {parts}:", f"    {line}"]
                change = code.before(code.statement(node), block)
                if change is not None:
                    what = f"`{whole}` that `{parts}` does not divide is refused"
                    yield Edit(what, (change,))
                    return
