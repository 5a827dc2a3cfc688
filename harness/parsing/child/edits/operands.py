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
    values = [getattr(s, "value", None) for s in scope.statements]
    places += [value for value in values if isinstance(value, (ast.Dict, ast.Tuple))]
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
    yield from _each_its_own(scope, own, inputs)
    for number, call in enumerate(own):
        for other in scope.layers:
            if other != called(call) and called(call) in scope.layers:
                yield code.swap(call.func, f"self.{other}")
        for node in call.args:
            if isinstance(node, ast.Name) and node.id in inputs:
                for other in inputs:
                    edit = code.swap(node, other)
                    # The first is of the queries as a rule, and goes without the others.
                    alike = f"{edit.alike}{node.id}→{other}" + ("!" if number else "")
                    if other != node.id:
                        yield dataclasses.replace(edit, alike=alike)


def _each_its_own(scope: Scope, calls: list[ast.Call], inputs: list[str]) -> Iterator[Edit]:
    """The first layer is of the first input, the second of the second, and so on."""
    given = [c.args[0] for c in calls if len(c.args) == 1 and isinstance(c.args[0], ast.Name)]
    if len(given) < len(inputs) or len(inputs) < 3:
        return
    pairs = list(zip(given, inputs, strict=False))
    if all(isinstance(one, ast.Name) and one.id in inputs for one, _ in pairs):
        changes = tuple(sorted(scope.code.change(one, other) for one, other in pairs))
        yield Edit(f"the layers are of {quoted(', '.join(inputs))} in turn", changes)


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
            edit = _change_places(scope, *node.elts)
            yield dataclasses.replace(edit, alike=f"two items of .{called(code.parent(node))}")
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


def passed_in(scope: Scope) -> Iterator[Edit]:
    """A parameter that nothing uses, where the object keeps something of its own."""
    code = scope.code
    found = [node for node in scope.nodes if isinstance(node, ast.Name)]
    given = {n.id: n.lineno for n in reversed(found) if isinstance(n.ctx, ast.Store)}
    read = [n for n in found if isinstance(n.ctx, ast.Load)]
    used = {n.id for n in read if n.lineno <= given.get(n.id, n.lineno)}
    kept = [n for n in scope.nodes if isinstance(n, ast.Attribute) and code.text(n.value) == "self"]
    written = {n.attr for n in kept if isinstance(n.ctx, ast.Store)}
    for parameter in scope.parameters:
        for name in sorted(written) if parameter not in used else ():
            changes = [Change(*code.span(n), parameter) for n in kept if n.attr == name]
            yield Edit(f"`self.{name}` becomes `{parameter}`", tuple(changes))


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
            # A product with Q, K or V is another thing than one with a matrix of weights.
            own = "!" if scope.root(node.right) in scope.arrays else ""
            yield Edit(f"{quoted(tail)} is left out", (change,), alike=tail + own)
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
        for bare in _within(scope, node):
            stays = {*walk(bare)}
            left = [n for n in walk(node) if isinstance(n, ast.Call) and n not in stays]
            alike = "".join(f".{called(call)}" for call in left)  # whatever their arguments
            yield dataclasses.replace(_unwrapped(scope, node, bare), alike=alike)
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


def _within(scope: Scope, node: ast.AST) -> list[ast.expr]:
    """Return x[0] and x of ``x[0].mean(0).expand(2)``: what a chain is of without two or more."""
    chain: list[ast.expr] = []
    inner: ast.AST | None = node
    while inner is not None:
        if isinstance(inner, ast.Call) and not is_self(inner) and called(inner) not in _KEPT:
            inner = scope.receiver(inner)
        elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Load):
            inner = inner.value
        else:
            inner = None
        chain += [inner] if isinstance(inner, ast.expr) else []
    return chain[1:]


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
