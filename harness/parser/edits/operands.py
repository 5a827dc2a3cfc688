"""What is multiplied with what, and what is too much in an expression."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import itertools
from collections.abc import Iterator

from .reading import Change, Edit, called, is_self, names, operands, quoted, walk
from .scopes import Scope

OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Div: ("*",),
    ast.Mult: ("/", "+"),
    ast.FloorDiv: ("/",),
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.BitOr: ("&",),
    ast.BitAnd: ("|",),
}
COMPARISONS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
#: Calls that are no part of the arithmetic.
_PLAIN = {*dir(builtins)} - {"round", "abs", "min", "max", "sorted", "float"}
_KEPT = ("matmul", "einsum", "bmm", "dot", "tensordot", "shape", "size", "where", "masked_fill")


def operand(scope: Scope) -> Iterator[Edit]:
    """Another array where Q, K, V, the scores or the weights are used."""
    code = scope.code
    inner = list(dict.fromkeys(filter(None, (scope.scores, scope.weights))))
    pools = [scope.arrays, inner]
    if scope.projected != scope.arrays:
        pools.append(scope.projected)
    for node in _used(scope):
        for pool in pools:
            if node.id in pool:
                yield from (code.swap(node, other) for other in pool if other != node.id)


def _used(scope: Scope) -> Iterator[ast.Name]:
    """Yield names in products from the last to the first, then those that are returned."""
    places: list[ast.AST] = list(itertools.chain(*map(operands, reversed(scope.products))))
    places += [s.value for s in scope.statements if isinstance(s, ast.Return) and s.value]
    seen = set()
    for place in places:
        for node in walk(place):
            if isinstance(node, ast.Name) and node not in seen:
                seen.add(node)
                yield node


def layer(scope: Scope) -> Iterator[Edit]:
    """Another layer of the same object, or the same of another input."""
    code = scope.code
    own = [n for n in scope.calls if is_self(n) and isinstance(n.func, ast.Attribute)]
    inputs = [p for p in scope.parameters if p != "self" and "mask" not in p.lower()]
    for call in own:
        for other in scope.layers:
            if other != called(call) and called(call) in scope.layers:
                yield code.swap(call.func, f"self.{other}")
        for node in call.args:
            if isinstance(node, ast.Name) and node.id in inputs:
                yield from (code.swap(node, other) for other in inputs if other != node.id)


def exchanged(scope: Scope) -> Iterator[Edit]:
    """Both operands of a product, or two items of a list, change places."""
    code = scope.code
    for product in scope.products:
        if len(pair := operands(product)) == 2:
            first, second = (scope.root(one) for one in pair)
            if first and second and first != second:
                swapped = {first: second, second: first}
                yield _renamed(scope, product, swapped, f"`{first}` and `{second}` change places")
    for node in scope.nodes:
        if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == 2:
            yield _change_places(scope, *node.elts)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.Sub)):
            yield _change_places(scope, node.left, node.right)
        elif called(node) == "outer" and isinstance(node, ast.Call) and len(node.args) == 2:
            yield _change_places(scope, *node.args)
    pairs = itertools.pairwise(s for s in scope.statements if isinstance(s, ast.Assign))
    for one, other in pairs:
        if code.parent(one) is code.parent(other) and len(one.targets) == len(other.targets) == 1:
            yield _change_places(scope, one.value, other.value)


def _change_places(scope: Scope, one: ast.AST, other: ast.AST) -> Edit:
    first, second = scope.code.text(one), scope.code.text(other)
    changes = (scope.code.change(one, second), scope.code.change(other, first))
    return Edit(f"{quoted(first)} and {quoted(second)} change places", tuple(sorted(changes)))


def renamed(scope: Scope) -> Iterator[Edit]:
    """Another array in a whole statement, e.g. K scaled where V was."""
    for statement in scope.statements:
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            for name in scope.arrays:
                if name in names(statement):
                    for other in scope.arrays:
                        if other not in names(statement):
                            inside = quoted(scope.code.text(statement))
                            what = f"`{name}` becomes `{other}` in {inside}"
                            yield _renamed(scope, statement, {name: other}, what)


def _renamed(scope: Scope, inside: ast.AST, to: dict[str, str], description: str) -> Edit:
    nodes = [n for n in walk(inside) if isinstance(n, ast.Name) and n.id in to]
    return Edit(description, tuple(sorted(scope.code.change(n, to[n.id]) for n in nodes)))


def surplus(scope: Scope) -> Iterator[Edit]:
    """One side of an operation is left out."""
    code = scope.code
    for node in scope.binaries:
        if not isinstance(node.op, ast.MatMult) or len(scope.products) > 2:
            tail = f"{_symbol(scope, node)} {code.text(node.right)}"
            change = code.change(node, code.text(node.left))
            yield Edit(f"{quoted(tail)} is left out", (change,), alike=tail)
    for node in scope.binaries:
        head = f"{code.text(node.left)} {_symbol(scope, node)}"
        yield Edit(f"{quoted(head)} is left out", (code.change(node, code.text(node.right)),))
    for choice in scope.nodes:
        if isinstance(choice, ast.BoolOp):
            yield from (code.swap(choice, code.text(value)) for value in choice.values)
        elif isinstance(choice, ast.IfExp):
            yield code.swap(choice, code.text(choice.body))
            yield code.swap(choice, code.text(choice.orelse))


def _symbol(scope: Scope, node: ast.BinOp) -> str:
    start, end = scope.code.span(node.left)[1], scope.code.span(node.right)[0]
    return scope.code.data[start:end].decode().strip(" ()\n\\")


def unwrapped(scope: Scope) -> Iterator[Edit]:
    """A call, an index, a sign or an attribute is left out, and what it was of stays."""
    code = scope.code
    for node in scope.nodes:
        if isinstance(node, ast.Call):
            receiver = scope.receiver(node)
            plain = receiver is None and called(node) in _PLAIN
            given = scope.given(node)
            inner = given[0] if given and not plain and called(node) not in _KEPT else None
            if inner is None or isinstance(inner, (ast.Constant, ast.Starred)):
                continue
            used = isinstance(code.parent(node), ast.Expr)
            if not used and not isinstance(inner, (ast.List, ast.GeneratorExp)):
                yield _unwrapped(scope, node, inner)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            if not (isinstance(node.value, ast.Attribute) and node.value.attr == "shape"):
                yield _unwrapped(scope, node, node.value)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            yield _unwrapped(scope, node, node.operand)
        elif isinstance(node, ast.Attribute) and node.attr in ("data", "T", "mT"):
            yield _unwrapped(scope, node, node.value)


def _unwrapped(scope: Scope, node: ast.AST, inner: ast.AST) -> Edit:
    edit, (start, end) = scope.code.swap(node, scope.code.text(inner)), scope.code.span(node)
    first, last = scope.code.span(inner)
    head, tail = scope.code.data[start:first].decode(), scope.code.data[last:end].decode()
    return dataclasses.replace(edit, alike=f"{head.rstrip(' (')}…{tail.lstrip(' )')}")


def operator(scope: Scope) -> Iterator[Edit]:
    """Another operator or comparison."""
    code = scope.code
    for node in scope.nodes:
        if isinstance(node, ast.BinOp):
            left, right, others = node.left, node.right, OPERATORS.get(type(node.op), ())
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = node.left, node.comparators[0]
            others = COMPARISONS.get(type(node.ops[0]), ())
        else:
            continue
        start, end = code.span(left)[1], code.span(right)[0]
        between = code.data[start:end].decode()
        symbol = between.strip(" ()\n\\")
        if symbol and between.count(symbol) == 1:
            for new in others:
                change = Change(start, end, between.replace(symbol, new))
                yield Edit(f"`{symbol}` becomes `{new}` in {quoted(code.text(node))}", (change,))


def regrouped(scope: Scope) -> Iterator[Edit]:
    """Parentheses round what follows a division or a power."""
    code = scope.code
    for node in scope.binaries:
        left = node.left
        while isinstance(left, ast.BinOp):
            start, end = code.span(left.right)[0], code.span(node)[1]
            inside = code.data[start:end].decode()
            if isinstance(left.op, (ast.Div, ast.Pow)) and _balanced(inside):
                new = f"({inside})"
                edit = Edit(f"{quoted(inside)} gets parentheses", (Change(start, end, new),))
                yield edit
            left = left.left
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mult):
            continue
    for node in scope.binaries:
        for power in walk(node.left):
            if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow):
                start, end = code.span(power.right)[0], code.span(node)[1]
                inside = code.data[start:end].decode()
                if _balanced(inside):
                    edit = Edit(
                        f"{quoted(inside)} gets parentheses", (Change(start, end, f"({inside})"),)
                    )
                    yield edit


def _balanced(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
