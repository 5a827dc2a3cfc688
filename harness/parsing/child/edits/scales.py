"""The scores are divided by the square root of the width of the keys, once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, called, operands, quoted, targets, walk
from .scopes import Scope

ROOTS = ("sqrt", "rsqrt")


def scale(scope: Scope) -> Iterator[Edit]:
    """The scale of the scores: added, its root taken, or another size in it."""
    if not scope.products:
        return
    code, width = scope.code, _width(scope)
    root = scope.square_root(width)
    for divided in _scalings(scope):
        text = code.text(divided.right)
        if called(divided.right) not in ROOTS:
            yield code.swap(divided.right, scope.square_root(text))
        power = root if isinstance(divided.op, ast.Div) else f"{width} ** -0.5"
        yield code.swap(divided.right, power)
    for statement in scope.statements:
        name = (targets(statement) or [""])[0].lower()
        value = getattr(statement, "value", None)
        if value is not None and any(word in name for word in ("scale", "temp", "norm")):
            yield code.swap(value, f"{width} ** -0.5")
            yield code.swap(value, root)
    for call in scope.calls:
        if called(call) in ROOTS and call.args:
            yield code.swap(call.args[0], width)
    for node in scope.binaries:
        if isinstance(node.op, ast.Pow):
            sign = "-" if code.text(node.right).startswith("-") else ""
            if code.text(node.right) != f"{sign}0.5":
                yield code.swap(node.right, f"{sign}0.5")
    yield _scaled(scope, root, ())
    yield from _moved(scope)


def _width(scope: Scope) -> str:
    """Write the width of the queries."""
    pair = operands(scope.products[0])
    of = scope.root(pair[0]) if pair else (scope.arrays or ["Q"])[0]
    return f"{of}.shape[-1]"


def _scalings(scope: Scope) -> Iterator[ast.BinOp]:
    """Yield divisions and multiplications that could be the scale of the scores."""
    first = scope.products[0]
    for node in scope.binaries:
        if isinstance(node.op, (ast.Div, ast.Mult)):
            holds = any(inner is first for inner in walk(node.left))
            if holds or scope.root(node.left) == scope.scores:
                yield node


def _scaled(scope: Scope, root: str, without: tuple[Change, ...]) -> Edit:
    """Divide the first product by the root; changes elsewhere come with it."""
    product = scope.products[0]
    start, end = scope.code.span(product)
    text = scope.code.text(product)
    loose = isinstance(product, ast.BinOp)
    new = f"({text}) / {root}" if loose and _is_inside(scope, product) else f"{text} / {root}"
    parent = scope.code.parent(product)
    if not isinstance(parent, ast.stmt) and not isinstance(parent, (ast.Call, ast.Tuple)):
        new = f"({new})"
    changes = tuple(sorted((Change(start, end, new), *without)))
    return Edit(f"{quoted(text)} is divided by `{root}`", changes)


def _is_inside(scope: Scope, node: ast.AST) -> bool:
    return isinstance(scope.code.parent(node), ast.BinOp)


def _moved(scope: Scope) -> Iterator[Edit]:
    """What divides something else divides the scores instead."""
    code, product = scope.code, scope.products[0]
    start, end = code.span(product)
    for node in scope.binaries:
        outside = code.span(node)[0] >= end or code.span(node)[1] <= start
        if isinstance(node.op, (ast.Div, ast.Mult)) and outside:
            without = code.change(node, code.text(node.left))
            by = code.text(node.right)
            if "sqrt" in by or "scale" in by or "**" in by:
                symbol = "/" if isinstance(node.op, ast.Div) else "*"
                text = code.text(product)
                changes = (Change(start, end, f"{text} {symbol} {by}"), without)
                yield Edit(f"`{symbol} {by}` moves to the scores", tuple(sorted(changes)))
